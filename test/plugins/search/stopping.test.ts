import { CastError } from '../../../kernel/index.ts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Desk, ENGINES, openDesk, startChild } from './desk.ts';

let desk: Desk;
beforeEach(() => {
  desk = openDesk();
});
afterEach(() => desk.remove());

const manyFiles = (count: number): void => {
  for (let index = 0; index < count; index++) desk.put(`d${index % 50}/f${index}.txt`, `${'some words of a line\n'.repeat(20)}`);
};

describe.each(ENGINES)('with %s', (engine) => {
  test('an abort is no result, and no second try', async () => {
    desk.put('a.txt', 'hit\n');
    for (const kind of [engine, 'auto'] as const) {
      const result = await desk.run(kind, 'grep', { pattern: 'hit' }, { signal: AbortSignal.abort() });
      expect(result).toEqual({ status: 'aborted', content: '[aborted]' });
    }
  });
});

test('an abort ends ripgrep at once, and nothing is tried instead of it', async () => {
  const aborter = new AbortController();
  let pid = 0;
  const slow = openDesk({
    start: async (_, options) => {
      const child = await startChild(['sleep', '60'], options);
      pid = child.pid;
      setTimeout(() => aborter.abort(), 20);
      return child;
    },
  });
  slow.put('a.txt', 'hit\n');
  for (const tool of ['grep', 'glob'] as const) {
    expect(await slow.run('auto', tool, { pattern: 'hit' }, { signal: aborter.signal })).toEqual({ status: 'aborted', content: '[aborted]' });
  }
  expect(() => process.kill(pid, 0)).toThrow();
  expect(slow.started).toHaveLength(2);
  slow.remove();
});

test('without ripgrep everything else goes on meanwhile, and an abort is heard', { timeout: 20_000 }, async () => {
  manyFiles(4000);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 1);
  await desk.run('walk', 'grep', { pattern: '\\w+ here' });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(3);

  const aborter = new AbortController();
  setTimeout(() => aborter.abort(), 5);
  expect(await desk.run('walk', 'grep', { pattern: '\\w+ here' }, { signal: aborter.signal })).toEqual({ status: 'aborted', content: '[aborted]' });
});

test('two searches at a time do not read each other', async () => {
  for (let index = 0; index < 300; index++) desk.put(`f${index}.txt`, `${index % 2 ? 'odd' : 'even'} ${index}\n`.repeat(2000));
  const alone = await desk.run('walk', 'grep', { pattern: 'even \\d+', limit: 3 });
  const together = await Promise.all([
    desk.run('walk', 'grep', { pattern: 'even \\d+', limit: 3 }),
    desk.run('walk', 'grep', { pattern: 'odd \\d+', limit: 3 }),
    desk.run('walk', 'grep', { pattern: 'even', limit: 3, context: 1 }),
  ]);
  expect(together[0]).toEqual(alone);
  expect(together[1]?.content.split('\n')[0]).toBe('f1.txt:1:odd 1');
});

test('a pattern that backtracks for ever is stopped', async () => {
  desk.put('a.txt', `${'a'.repeat(60)}b\n`);
  const started = performance.now();
  expect(await desk.run('walk', 'grep', { pattern: '^(a+)+$' })).toMatchObject({ status: 'error', error: { code: 'TIMEOUT' } });
  expect(performance.now() - started).toBeLessThan(6000);
  expect((await desk.run('ripgrep', 'grep', { pattern: '^(a+)+$' })).content).toBe('No matches found');
});

test('ripgrep has ten seconds', async () => {
  let given: number | undefined;
  async function* none(): AsyncGenerator<never> {}
  const slow = openDesk({
    start: async (_, { timeoutMs }) => {
      given = timeoutMs;
      const exit = Promise.resolve({ code: null, signal: 'SIGKILL', timedOut: true });
      return { pid: 1, output: none(), exit, kill: async () => {}, alive: () => false };
    },
  });
  for (const tool of ['grep', 'glob'] as const) {
    expect(await slow.run('auto', tool, { pattern: 'x' })).toMatchObject({ status: 'error', error: { code: 'TIMEOUT', retryable: true } });
  }
  expect(given).toBe(10_000);
  expect(slow.started).toHaveLength(2);
  slow.remove();
});

test('so has the search without it', async () => {
  let now = 0;
  const slow = openDesk({ now: () => (now += 20_000) });
  for (let index = 0; index < 40; index++) slow.put(`f${index}.txt`, 'some words\n'.repeat(20_000));
  expect(await slow.run('walk', 'grep', { pattern: '[xyz]{2}\\d' })).toMatchObject({ status: 'error', error: { code: 'TIMEOUT', retryable: true } });
  slow.remove();
});

describe('where ripgrep cannot be started', () => {
  let broken: Desk;
  beforeEach(() => {
    broken = openDesk({ start: () => Promise.reject(new CastError('INTERNAL', 'spawn rg ENOENT')) });
    broken.put('a.txt', 'hit\n');
  });
  afterEach(() => broken.remove());
  test('auto goes on without it', async () => {
    expect((await broken.run('auto', 'grep', { pattern: 'hit' })).content).toBe('a.txt:1:hit');
    expect((await broken.run('auto', 'glob', { pattern: '*' })).content).toContain('a.txt');
    expect(broken.started).toHaveLength(2);
  });
  test('ripgrep is an error', async () => {
    expect(await broken.run('ripgrep', 'grep', { pattern: 'hit' })).toMatchObject({ status: 'error', error: { code: 'UNAVAILABLE' } });
  });
  test('an abort while it starts does not lead to the other engine', async () => {
    const aborter = new AbortController();
    const slow = openDesk({
      start: () => {
        aborter.abort();
        return Promise.reject(new CastError('INTERNAL', 'aborted'));
      },
    });
    slow.put('a.txt', 'hit\n');
    expect((await slow.run('auto', 'grep', { pattern: 'hit' }, { signal: aborter.signal })).status).toBe('aborted');
    slow.remove();
  });
});

test('more complaints than are read are cut between two of them, and said to be cut', { timeout: 30_000 }, async () => {
  // Lines of odd lengths of several bytes a character: somewhere a piece ends within one.
  const script = `for (let i = 0; i < 60000; i++) process.stderr.write('rg: ' + process.argv[1] + '/' + 'größe'.repeat(10) + i + ': Permission denied (os error 13)\\n');
    process.stderr.on('drain', () => {}); process.exitCode = 2; process.stdout.write(process.argv[1] + '/a.txt\\0');`;
  const desk2 = openDesk({ start: (_, options) => startChild([process.execPath, '-e', script, desk2.cwd], options) });
  const { status, content } = await desk2.run('ripgrep', 'glob', { pattern: '*' });
  expect(status).toBe('ok');
  expect(content).toMatch(/^a\.txt\n/);
  const [, count = '', names = ''] = /\((\d+) paths could not be read: (.*)\.\)/.exec(content) ?? [];
  expect(Number(count)).toBeGreaterThan(20_000);
  expect(Number(count)).toBeLessThan(60_000);
  expect(names).toMatch(/^(?:(?:größe){10}\d+(?:, |$))+…?$/u);
  expect(content).not.toContain('\ufffd');
  expect(content).toContain('(More paths could not be read than are counted here.)');
  desk2.remove();
});
