import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Spill } from '../../../plugins/bash/spill.ts';
import { runIn, running, testBench, testCall, uniqueSleep, until, type TestBench } from './bench.ts';

let cwd = '';
let bench: TestBench;
const benches: TestBench[] = [];
const use = (made: TestBench): TestBench => {
  benches.push(made);
  return made;
};
const bash = (command: string, timeout?: number, on: TestBench = bench) => runIn({ command, ...(timeout === undefined ? {} : { timeout }) }, testCall(cwd), on);
const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const started = performance.now();
  return [await work, performance.now() - started];
};
const spillOf = (result: { details?: unknown }): string => (result.details as { output: string }).output;

beforeEach(async () => {
  cwd = await realpath(await mkdtemp(join(tmpdir(), 'cast-test-')));
  bench = use(testBench());
});
afterEach(async () => {
  await Promise.all(benches.splice(0).map((made) => made.close()));
  await rm(cwd, { recursive: true, force: true });
});

describe('results', () => {
  test('both streams in order of arrival, the directory, effects on disk', async () => {
    const result = await bash('pwd; echo out; echo err >&2; echo more; touch made');
    expect(result).toMatchObject({ status: 'ok', content: `${cwd}\nout\nerr\nmore`, details: { exitCode: 0 } });
    expect(result.error).toBeUndefined();
    expect(existsSync(join(cwd, 'made'))).toBe(true);
  });

  test.each([
    ['a status', 'echo out; echo err >&2; exit 3', 'out\nerr\n\nProcess exited with code 3'],
    ['a status without output', 'exit 7', '(no output)\n\nProcess exited with code 7'],
    ['a signal', 'echo out; kill -9 $$', 'out\n\nProcess was killed by SIGKILL'],
    ['a signal to a part of it', '(exec bash -c "kill -9 \\$\\$"); exit $?', 'bash: line 1: KILLED\n\nProcess exited with code 137'],
  ])('B026: failure by %s is an error, with both streams', async (_name, command, content) => {
    const result = await bash(command);
    expect({ ...result, content: result.content.replace(/bash: line 1: +\d+ Killed.*/, 'bash: line 1: KILLED') }).toMatchObject({
      status: 'error',
      content,
      error: { code: 'EXTERNAL_ERROR', retryable: false },
    });
  });

  test('nothing printed is said', async () => {
    expect(await bash('true')).toMatchObject({ status: 'ok', content: '(no output)' });
    expect(await bash('printf "\\n \\n"')).toMatchObject({ status: 'ok', content: '(no output)' });
  });

  test('standard input is at its end, and there is no terminal', async () => {
    const [result] = await timed(bash('cat; read -r x; echo "after:$?"; (: < /dev/tty) 2> /dev/null || echo no terminal'));
    expect(result.content).toBe('after:1\nno terminal');
  });

  test('/dev/stdout and /dev/stderr can be opened', async () => {
    expect((await bash('echo a > /dev/stderr; echo b | tee /dev/stderr; echo c > /dev/stdout')).content).toBe('a\nb\nb\nc');
  });

  test('escape sequences go, line ends are made one', async () => {
    const { content } = await bash(
      `printf '\\e[31mred\\e[0m \\e[?25lx\\e]0;title\\a\\e]8;;http://a\\e\\\\link\\e(B\\ra\\r\\nb\\n\\e[1'; sleep 0.05; printf 'mend'`,
    );
    expect(content).toBe('red xlink\na\nb\nend');
  });

  test('the environment is without credentials, pagers and prompts', async () => {
    const on = use(testBench({}, undefined, { CAST_API_KEY: 'secret-1', OPENAI_API_KEY: 'secret-2', GIT_DIR: '/elsewhere' }));
    const { content } = await bash('env', undefined, on);
    expect(content).not.toMatch(/secret-|^GIT_DIR=/m);
    for (const line of ['PAGER=cat', 'GIT_PAGER=cat', 'GIT_TERMINAL_PROMPT=0', `PWD=${cwd}`]) expect(content).toContain(line);
  });

  test.each([
    ['a blank command', '  \n ', /required/, 'INVALID_ARGUMENT'],
    ['a zero byte', 'echo a\0b', /zero byte/, 'INVALID_ARGUMENT'],
    ['a command that is too long', `echo ${'x'.repeat(200_000)}`, /longer than/, 'INVALID_ARGUMENT'],
  ])('%s is refused', async (_name, command, content, code) => {
    expect(await bash(command)).toMatchObject({ status: 'error', content: expect.stringMatching(content), error: { code } });
  });

  test('a directory that is gone is a clean error', async () => {
    const result = await runIn({ command: 'true' }, testCall(join(cwd, 'gone')), bench);
    expect(result).toMatchObject({ status: 'error', content: expect.stringContaining('gone does not exist'), error: { code: 'NOT_FOUND' } });
  });

  test('a shell of its own may be given; a missing one is named', async () => {
    const fake = join(cwd, 'fake bash');
    await writeFile(fake, '#!/bin/sh\necho "fake $*"\n');
    await chmod(fake, 0o755);
    expect((await bash('true', undefined, use(testBench({}, fake)))).content).toBe('fake -c true');
    expect(await bash('true', undefined, use(testBench({}, '/no/bash')))).toMatchObject({
      status: 'error',
      content: expect.stringMatching(/^Failed to start bash \("\/no\/bash"\): .*not found/),
      error: { code: 'UNAVAILABLE' },
    });
    expect((await bash('echo $BASH', undefined, use(testBench({}, undefined, { PATH: '/nowhere' })))).content).toBe('/bin/bash');
  });
});

describe('the end of a command', () => {
  test.each([
    ['children', (nap: string) => `sh -c '${nap} & ${nap}' & echo begun; wait`],
    ['a child of a child', (nap: string) => `echo begun; sh -c '${nap} & ${nap}'`],
    ['a child that ignores SIGTERM', (nap: string) => `echo begun; trap '' TERM; ${nap}; ${nap}`],
  ])('B022: timeout kills %s', async (_name, script) => {
    const nap = uniqueSleep(400);
    const [result, ms] = await timed(bash(script(nap), 1));
    expect(result).toMatchObject({
      status: 'error',
      content: '[TIMED OUT] after 1 seconds\nbegun',
      error: { code: 'TIMEOUT', retryable: true },
      details: { timedOut: true },
    });
    expect(ms).toBeLessThan(4000);
    expect(running(nap)).toEqual([]);
  });

  test('B022: abort kills the group and keeps what was printed', async () => {
    const nap = uniqueSleep(400);
    const abort = new AbortController();
    const result = runIn({ command: `echo begun; ${nap} & ${nap}` }, testCall(cwd, { signal: abort.signal }), bench);
    expect(await until(() => running(nap).length === 2)).toBe(true);
    abort.abort();
    expect(await result).toMatchObject({ status: 'aborted', content: '[ABORTED]\nbegun', error: { code: 'ABORTED', retryable: false } });
    expect(running(nap)).toEqual([]);
  });

  test('an aborted call starts nothing', async () => {
    const result = await runIn({ command: 'touch made' }, testCall(cwd, { signal: AbortSignal.abort() }), bench);
    expect(result).toMatchObject({ status: 'aborted', content: expect.stringMatching(/^\[ABORTED\]/) });
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test.runIf(process.platform === 'linux')('B022: a process in a session of its own does not hold the result up, and is named', async () => {
    const nap = uniqueSleep(30);
    const [result, ms] = await timed(bash(`echo begun; setsid ${nap} & sleep 400`, 1));
    const [pid] = running(nap);
    expect(ms).toBeLessThan(4000);
    expect(result.content).toMatch(/^\[TIMED OUT\] after 1 seconds\nbegun\n\nMay still run/);
    expect(result.content).toContain(`pid ${pid} (${nap})`);
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  });

  test.each([0, -1])('B027: a timeout of %s counts as not given', async (timeout) => {
    expect(await bash('sleep 0.3; echo done', timeout)).toMatchObject({ status: 'ok', content: 'done' });
    expect(await bash('sleep 5', timeout, use(testBench({ timeoutMs: 300 })))).toMatchObject({
      content: expect.stringMatching(/^\[TIMED OUT\] after 0.3 seconds/),
    });
  });

  test('B027: a limit of one second kills what takes three, and keeps what came', async () => {
    const [result, ms] = await timed(bash('echo begun; sleep 3; echo over', 1));
    expect(result).toMatchObject({ status: 'error', content: '[TIMED OUT] after 1 seconds\nbegun', error: { code: 'TIMEOUT' } });
    expect(ms).toBeLessThan(3000);
  });

  test.runIf(process.platform === 'linux').each([
    ['holds the pipe', (nap: string) => `setsid ${nap} & echo started`],
    ['does not', (nap: string) => `setsid ${nap} > /dev/null 2>&1 < /dev/null & sleep 0.3; echo started`],
  ])('B022: a process that left the group of a command that ended well is named (it %s)', async (_name, script) => {
    const nap = uniqueSleep(30);
    const { status, content } = await bash(script(nap));
    const [pid] = running(nap);
    expect([status, content]).toEqual(['ok', expect.stringContaining(`started\n\nMay still run, in a session of its own`)]);
    expect(content).toContain(`pid ${pid} (${nap})`);
    await bench.close();
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  });

  test('a command in the background returns at once, is named, lives on, and ends with the session', async () => {
    const nap = uniqueSleep(400);
    const [result, ms] = await timed(bash(`${nap} & echo started`));
    expect(ms).toBeLessThan(2000);
    const [pid] = running(nap);
    expect(result).toMatchObject({ status: 'ok', content: expect.stringMatching(/^started\n\nStill running: pid \d+/), details: { background: [pid] } });
    expect(result.content).toContain(`pid ${pid} (${nap})`);
    await bench.close();
    expect(running(nap)).toEqual([]);
  });

  test('a server in the background is not killed by its log', async () => {
    const { content } = await bash(`(sleep 0.5; head -c 300000 /dev/zero; touch done; ${uniqueSleep(400)}) & echo started`);
    expect(content).toMatch(/^started\n/);
    expect(await until(() => existsSync(join(cwd, 'done')))).toBe(true);
  });
});

describe('nothing waits for a person', () => {
  const git = (...args: string[]): void => void execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd, stdio: 'ignore' });
  beforeEach(() => {
    git('init', '-q');
    git('config', 'user.name', 't');
    git('config', 'user.email', 't@t');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    git('commit', '-q', '--allow-empty', '-m', 'two');
    git('config', 'core.editor', 'sleep 100');
    git('config', 'sequence.editor', 'sleep 100');
  });

  test.each(['git commit --allow-empty', 'git rebase -i HEAD~1', 'git tag -a v1', 'git commit --amend --allow-empty'])(
    'B023: %s fails with advice',
    async (command) => {
      const [result, ms] = await timed(bash(command));
      expect(ms).toBeLessThan(5000);
      expect(result).toMatchObject({
        status: 'error',
        content: expect.stringMatching(/There is no editor here[^]*git commit -m[^]*Process exited with code 1\d*$/),
      });
      expect(result.error?.suggestedFix).toContain('git commit -m');
      const log = await bash('git log --format=%s; git status --short; test ! -e .git/rebase-merge');
      expect(log.content).toBe('two\none');
    },
  );

  test('B023: a clone that needs a password fails at once', async () => {
    const server = createServer((_request, response) => response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const [result, ms] = await timed(bash(`git -c credential.helper= clone http://user@127.0.0.1:${port}/x`));
      expect(ms).toBeLessThan(8000);
      expect(result).toMatchObject({ status: 'error', content: expect.stringContaining('No name or password can be typed here') });
    } finally {
      server.close();
    }
    expect(await bash('git clone https://user@127.0.0.1:1/x')).toMatchObject({ status: 'error' });
  });

  // "Ok to proceed?" is asked where there is a terminal. Without one some versions of npm go on and some stop; none may wait.
  test.skipIf(spawnSync('npm', ['--version']).status !== 0).each([
    ['that asks', '', /E404|missing packages[^]*npm exec --yes/, ['/nothing-of-ours']],
    ['that was told no', '--no', /missing packages[^]*npm exec --yes/, ['/nothing-of-ours']],
    ['that was told yes', '--yes', /E404/, ['/nothing-of-ours', '/nothing.tgz']],
  ])('B023: npm exec of a package that is not there, %s, ends by itself', { timeout: 40_000 }, async (_name, flag, content, asked) => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      if (request.url !== '/nothing-of-ours') return response.writeHead(404).end('{}');
      const dist = { tarball: `http://127.0.0.1:${port}/nothing.tgz` };
      const version = { name: 'nothing-of-ours', version: '1.0.0', bin: { 'nothing-of-ours': 'x.js' }, dist };
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ name: version.name, 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      const npm = `HOME=$PWD no_proxy=127.0.0.1 npm --cache=$PWD/cache --registry=http://127.0.0.1:${port} --fetch-retries=0`;
      const [result, ms] = await timed(bash(`${npm} exec ${flag} nothing-of-ours`));
      expect(ms).toBeLessThan(30_000);
      expect(result).toMatchObject({ status: 'error', content: expect.stringMatching(content) });
      expect(paths).toEqual(expect.arrayContaining(asked));
    } finally {
      server.close();
    }
  });

  test('B023: pagers are off', async () => {
    const [result, ms] = await timed(bash('git config core.pager "sleep 100"; git --paginate log --format=%s'));
    expect(ms).toBeLessThan(5000);
    expect(result.content).toBe('two\none');
  });
});

describe('long output', () => {
  test('B024: keeps its beginning and its end within the lines, says what was left out and where the whole is', async () => {
    const result = await bash('seq 1 60000');
    const lines = result.content.split('\n');
    expect(lines).toHaveLength(2001);
    const leftBytes = execFileSync('seq', ['3', '58002']).length;
    expect(lines[2]).toMatch(/^\[58000 lines \(\d+ bytes\) were left out here\. The whole output is in \/.*\]$/);
    expect(lines[2]).toContain(`(${leftBytes} bytes)`);
    expect([lines[0], lines[1], lines[3], lines.at(-1)]).toEqual(['1', '2', '58003', '60000']);
    const spill = spillOf(result);
    expect(result.content).toContain(spill);
    expect(await readFile(spill, 'utf8')).toBe(execFileSync('seq', ['1', '60000'], { encoding: 'utf8' }));
    expect((await stat(spill)).mode & 0o777).toBe(0o600);
    expect((await stat(dirname(spill))).mode & 0o777).toBe(0o700);
    await bench.close();
    expect(existsSync(dirname(spill))).toBe(false);
  });

  test('exactly the limit is not cut', async () => {
    const { content } = await bash('seq 1 2000');
    expect(content.split('\n')).toHaveLength(2000);
    expect((await bash('seq 1 2001')).content).toMatch(/^2\n\[1 lines \(2 bytes\)[^]*\]\n4$/m);
  });

  test('B024: a huge line is cut in bytes', async () => {
    const { content } = await bash("head -c 600000 /dev/zero | tr '\\0' 'x'; echo; echo THE-END");
    expect(Buffer.byteLength(content)).toBeLessThan(132_000);
    expect(content).toMatch(/^x{2048}\n\[0 lines \(\d+ bytes\) were left out here/);
    expect(content.endsWith('x\nTHE-END')).toBe(true);
  });

  test.each([0, 1, 2])('B025: no character is cut in two (offset %s)', async (offset) => {
    const { content } = await bash(`printf '%${offset}s' ''; printf '€%.0s' {1..50000}; echo`);
    expect(content).not.toContain('\ufffd');
    expect(content).toMatch(/^ *€{600}[^]*€{40000}$/);
    const shown = content.replace(/\n\[.*\]\n/, '');
    expect(Buffer.byteLength(shown)).toBeGreaterThan(131_072 - 6);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(131_072);
  });

  test('B025: a character that comes in two parts is one', async () => {
    expect((await bash(`printf '\\xe2'; sleep .1; printf '\\x82\\xac\\n'`)).content).toBe('€');
  });

  test('output without end is killed by the timeout like any other', async () => {
    const [result, ms] = await timed(bash('yes', 1));
    expect(result.content).toMatch(/^\[TIMED OUT\] after 1 seconds\n(y\n){2}\[\d+ lines/);
    expect(ms).toBeLessThan(5000);
  });

  test('binary output is summed up, and kept', async () => {
    const result = await bash('head -c 5000 /dev/urandom; head -c 5000 /dev/zero');
    expect(result.content).toMatch(/^\[Binary output of 10000 bytes, not shown\. The whole output is in \//);
    expect((await stat(spillOf(result))).size).toBe(10_000);
    expect((await bash("printf 'a\\0b\\0cdefghijklmnopqrstuvwxyz\\n'")).content).toBe('abcdefghijklmnopqrstuvwxyz');
  });

  test('the number of kept files is bounded', async () => {
    const on = use(testBench({ maxLines: 1 }));
    let path = '';
    for (let count = 0; count < 20; count += 1) path = spillOf(await bash('echo a; echo b', undefined, on));
    expect(await readdir(dirname(path))).toHaveLength(16);
    expect(existsSync(path)).toBe(true);
  });

  test('no room for the file costs the file, not the command', async () => {
    vi.spyOn(bench.remains.spills, 'create').mockResolvedValue(new Spill(join(cwd, 'none', 'x.log')));
    const result = await bash('seq 1 3000');
    expect(result).toMatchObject({ status: 'ok', content: expect.stringMatching(/could not be kept: ENOENT[^]*\n3000$/) });
  });

  test('progress shows the newest lines now and then', async () => {
    const told: string[] = [];
    await runIn({ command: 'for i in $(seq 1 40); do echo "€ $i"; sleep 0.02; done' }, testCall(cwd, { progress: (text) => told.push(text) }), bench);
    expect(told.length).toBeGreaterThan(0);
    expect(told.length).toBeLessThan(8);
    expect(told[0]).toMatch(/^(€ \d+\n?){1,5}$/);
    const quick: string[] = [];
    await runIn({ command: 'echo a' }, testCall(cwd, { progress: (text) => quick.push(text) }), bench);
    expect(quick).toEqual([]);
  });
});
