import { execFileSync, spawn as startNode, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSpawner, killAllGroups, killAllGroupsNow, livePids } from '../../../kernel/host/spawn.ts';
import type { SpawnSpec } from '../../../kernel/hooks/subjects.ts';
import type { Child } from '../../../kernel/contracts/powers.ts';

let cwd = '';
let seen: SpawnSpec[] = [];
const signal = new AbortController().signal;
const at = (more: object = {}) => ({ cwd, purpose: 'test', signal, ...more });
const environment = { PATH: process.env['PATH'] ?? '', HOME: '/nowhere', CAST_API_KEY: 'k', GIT_DIR: '/elsewhere' };
const spawner = createSpawner({
  environment,
  plugin: 'tester',
  prepare: async (spec) => {
    seen.push(spec);
    return spec;
  },
});
const shell = (script: string, more: object = {}) => spawner.spawn(['/bin/sh', '-c', script], at(more));
const readAll = async (child: Child): Promise<string> => {
  let text = '';
  for await (const { bytes } of child.output) text += Buffer.from(bytes).toString('latin1');
  return text;
};
let naps = 0;
const uniqueSleep = (seconds: number): string => `sleep ${seconds}.${process.pid}${(naps += 1)}`;
const running = (command: string): string[] =>
  execFileSync('ps', ['-A', '-o', 'stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^[^ZX]\S*\s+(.*)$/.exec(line)?.[1] === command);
const until = async (holds: () => boolean, ms = 2000): Promise<boolean> => {
  const deadline = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > deadline) return false;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return true;
};
const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const started = performance.now();
  return [await work, performance.now() - started];
};

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'cast-test-'));
  seen = [];
});
afterEach(async () => {
  await killAllGroups();
  await rm(cwd, { recursive: true, force: true });
});

describe('run', () => {
  test('keeps both streams apart, with the exit status', async () => {
    const result = await spawner.run(['/bin/sh', '-c', 'echo out; echo err >&2; exit 3'], at());
    expect(result).toEqual({ code: 3, signal: null, out: 'out\n', err: 'err\n', cut: false, timedOut: false });
  });

  test.each([
    ['a missing program', ['no-such-program-here'], {}, /no-such-program-here: the program was not found/],
    ['a missing directory', ['/bin/sh', '-c', 'true'], { cwd: '/no/such/dir' }, /working directory \/no\/such\/dir does not exist/],
    ['a file that is not executable', ['/etc/passwd'], {}, /not executable/],
    ['no program at all', [], {}, /no program/],
    ['a word with a zero byte', ['/bin/echo', 'a\0b'], {}, /null bytes/],
  ])('%s is a result with the reason', async (_name, argv, more, reason) => {
    const result = await spawner.run(argv, at(more));
    expect(result).toMatchObject({ code: null, signal: null, out: '', err: expect.stringMatching(reason) });
  });

  test('a refusal by the hook is passed on', async () => {
    const refusing = createSpawner({ environment, plugin: 'tester', prepare: () => Promise.reject(new Error('not today')) });
    await expect(refusing.run(['true'], at())).rejects.toThrow('not today');
    await expect(refusing.spawn(['true'], at())).rejects.toThrow('not today');
  });

  test('the hook sees what is started, and may change it', async () => {
    await spawner.run(['/bin/true'], at({ env: { EXTRA: '1' } }));
    expect(seen[0]).toEqual({
      argv: ['/bin/true'],
      cwd,
      env: { PATH: environment.PATH, HOME: '/nowhere', EXTRA: '1' },
      purpose: 'test',
      plugin: 'tester',
    });
    const wrapping = createSpawner({
      environment,
      plugin: 'tester',
      prepare: async (spec) => ({ ...spec, argv: ['/bin/sh', '-c', 'echo "$PWD:$MARK:$*"', ...spec.argv], cwd: '/', env: { MARK: 'm' } }),
    });
    expect((await wrapping.run(['zero', 'one'], at())).out).toBe('/:m:one\n');
  });

  test('standard input is at its end, or what was given', async () => {
    expect((await spawner.run(['/bin/sh', '-c', 'read -r x; echo "$?"'], at())).out).toBe('1\n');
    const big = 'ü'.repeat(300_000);
    expect((await spawner.run(['cat'], at({ stdin: big }))).out).toBe(big);
    expect((await spawner.run(['true'], at({ stdin: big }))).code).toBe(0);
  });

  test('output beyond the limit is drained, and no character is cut in two', async () => {
    const result = await spawner.run(['/bin/sh', '-c', 'yes üü | head -c 3000000; echo e >&2'], at({ maxBytes: 1001 }));
    expect(result).toMatchObject({ code: 0, cut: true, err: 'e\n' });
    expect(Buffer.byteLength(result.out)).toBe(1000);
    expect(result.out).not.toContain('\ufffd');
  });

  test('a limit in time kills the whole group, even one that ignores SIGTERM', async () => {
    const nap = uniqueSleep(60);
    const [result, ms] = await timed(spawner.run(['/bin/sh', '-c', `trap '' TERM; ${nap} & echo begun; wait; ${nap}`], at({ timeoutMs: 200 })));
    expect(result).toMatchObject({ code: null, signal: 'SIGKILL', out: 'begun\n', timedOut: true });
    expect(ms).toBeLessThan(3000);
    expect(running(nap)).toEqual([]);
  });

  test('a signal that has been aborted starts nothing', async () => {
    expect(await spawner.run(['touch', 'made'], at({ signal: AbortSignal.abort() }))).toMatchObject({ code: null, err: expect.stringContaining('cancelled') });
    await expect(spawner.spawn(['touch', 'made'], at({ signal: AbortSignal.abort() }))).rejects.toThrow();
    await expect(readFile(join(cwd, 'made'))).rejects.toThrow('ENOENT');
  });

  test('abort kills the group', async () => {
    const nap = uniqueSleep(60);
    const abort = new AbortController();
    const [result, ms] = await timed(
      Promise.all([
        spawner.run(['/bin/sh', '-c', `${nap} & ${nap}`], at({ signal: abort.signal })),
        until(() => running(nap).length === 2).then(() => abort.abort()),
      ]),
    );
    expect(result[0]).toMatchObject({ code: null, signal: 'SIGTERM', timedOut: false });
    expect(ms).toBeLessThan(3000);
    expect(await until(() => running(nap).length === 0)).toBe(true);
  });
});

describe('spawn', () => {
  test('throws a CastError that says what is missing', async () => {
    await expect(spawner.spawn(['no-such-program-here'], at({ merge: true }))).rejects.toMatchObject({
      name: 'CastError',
      message: expect.stringContaining('no-such-program-here'),
    });
    await expect(shell('true', { cwd: '/no/such/dir' })).rejects.toMatchObject({ name: 'CastError', message: expect.stringContaining('/no/such/dir') });
  });

  test('merged streams come in order of arrival, through a pipe that can be opened again', async () => {
    const script = 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done; echo x > /dev/stderr; echo y | tee /dev/stdout';
    const child = await shell(script, { merge: true });
    expect(await readAll(child)).toBe('o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\nx\ny\ny\n');
    expect(await child.exit).toEqual({ code: 0, signal: null, timedOut: false });
  });

  test.each([true, false])('output and exit do not wait for a grandchild that holds the pipe (merge: %s)', async (merge) => {
    const nap = uniqueSleep(60);
    const child = await shell(`echo a; ${nap} & echo b`, { merge });
    const [text, ms] = await timed(readAll(child));
    expect(text).toBe('a\nb\n');
    expect(await child.exit).toMatchObject({ code: 0 });
    expect(ms).toBeLessThan(1500);
    expect(child.alive()).toBe(true);
    expect(livePids()).toContain(child.pid);
    await child.kill();
    expect(child.alive()).toBe(false);
    expect(livePids()).not.toContain(child.pid);
    expect(running(nap)).toEqual([]);
  });

  test('what is left in the background may go on writing', async () => {
    const child = await shell(`(sleep 0.6; head -c 500000 /dev/zero && touch done) & echo a`, { merge: true });
    expect(await readAll(child)).toBe('a\n');
    expect(await until(() => !child.alive(), 4000), 'the writer was blocked').toBe(true);
    await expect(readFile(join(cwd, 'done'))).resolves.toBeDefined();
  });

  test('a grandchild that never stops writing does not keep the output open', async () => {
    const child = await shell('yes & echo a', { merge: true });
    let bytes = 0;
    // Reading slowly, so that there is always something to read.
    for await (const piece of child.output) {
      bytes += piece.bytes.length;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(bytes).toBeLessThan(2_000_000);
    await child.kill();
  });

  test('output that is not read slows the child instead of growing', async () => {
    const child = await shell('head -c 200000000 /dev/zero; touch done', { merge: true });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await expect(readFile(join(cwd, 'done'))).rejects.toThrow('ENOENT');
    const text = await readAll(child);
    expect(text.length).toBe(200_000_000);
  });

  test('output that is read late is still whole', async () => {
    const child = await shell('head -c 60000 /dev/zero; echo end >&2');
    await child.exit;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await readAll(child)).length).toBe(60_004);
  });

  test.runIf(process.platform === 'linux')('a group of which only zombies are left is dead', async () => {
    // The first sleep stays a zombie: its parent has left the group and never waits for it.
    const nap = uniqueSleep(5);
    const child = await shell(`(sleep 0.1 & exec setsid ${nap}) > /dev/null &`);
    expect(await child.exit).toMatchObject({ code: 0 });
    expect(await until(() => !child.alive(), 1500)).toBe(true);
    expect(running(nap)).toHaveLength(1);
    expect(livePids()).toEqual([]);
  });

  test('children have no controlling terminal and lead a group of their own', async () => {
    const child = await shell('(: < /dev/tty) 2>/dev/null && echo tty || echo none; ps -o pgid= -p $$');
    expect((await readAll(child)).split(/\s+/).filter(Boolean)).toEqual(['none', String(child.pid)]);
  });

  test('killAllGroups ends them all; killAllGroupsNow does so without waiting', async () => {
    const nap = uniqueSleep(60);
    await Promise.all([shell(nap), shell(`trap '' TERM; ${nap}; ${nap}`)]);
    await killAllGroups();
    expect(livePids()).toEqual([]);
    expect(running(nap)).toEqual([]);
    const child = await shell(`trap '' TERM; ${nap}; ${nap}`);
    killAllGroupsNow();
    expect(await child.exit).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('a child dies with its owner', () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const owners: ChildProcess[] = [];
  afterEach(() => {
    for (const owner of owners.splice(0)) owner.kill('SIGKILL');
  });
  const own = (body: string): ChildProcess => {
    const owner = startNode(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { createJiti } from 'jiti';
         const { createSpawner } = await createJiti(process.cwd() + '/').import('./kernel/host/spawn.ts');
         const spawner = createSpawner({ environment: process.env, plugin: 'owner', prepare: async (spec) => spec });
         const at = { cwd: '/', purpose: 'test', signal: new AbortController().signal };
         ${body}`,
      ],
      { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    owners.push(owner);
    return owner;
  };

  test.each([
    ['killed', 'setInterval(() => undefined, 1000)', 'SIGKILL'],
    ['gone without a word', 'setTimeout(() => process.exit(0), 300)', undefined],
  ] as const)('%s', async (_name, body, how) => {
    const nap = uniqueSleep(300);
    const owner = own(`
      await spawner.spawn(['/bin/sh', '-c', 'true'], at);
      await spawner.spawn(['/bin/sh', '-c', "trap '' TERM; ${nap} & ${nap}; ${nap}"], { ...at, merge: true });
      void spawner.run(['/bin/sh', '-c', '${nap} & ${nap}'], at);
      ${body}`);
    expect(await until(() => running(nap).length === 4, 10_000)).toBe(true);
    if (how) owner.kill(how);
    expect(await until(() => running(nap).length === 0, 4000)).toBe(true);
  });

  test('and does not keep it from ending', async () => {
    const owner = own("await spawner.run(['true'], at);");
    expect(await until(() => owner.exitCode === 0, 10_000)).toBe(true);
  });

  test('the watcher is started again when somebody has killed it', async () => {
    const watchers = (): number[] =>
      execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' })
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, parent, state, ...args]) => Number(parent) === process.pid && !state?.startsWith('Z') && args.join(' ').includes('cast-reaper'))
        .map(([pid]) => Number(pid));
    await shell(uniqueSleep(60));
    const before = watchers();
    expect(before).toHaveLength(1);
    for (const pid of before) process.kill(pid, 'SIGKILL');
    expect(await until(() => watchers().some((pid) => !before.includes(pid)))).toBe(true);
    expect(watchers()).toHaveLength(1);
  });

  test('the watcher cannot be seen by the command', async () => {
    const child = await shell('ps -A -o pgid=,args= | grep "^ *$$ "; wait; ls /proc/self/fd 2>/dev/null | wc -l');
    expect(await readAll(child)).not.toContain('reaper');
  });
});
