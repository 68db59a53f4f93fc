import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../kernel/host/clock.ts';
import { createMemoryStore } from '../../../kernel/session/memory-store.ts';
import { hang, use } from '../../../kernel/testkit/index.ts';
import { MAX_ENDED, MAX_RUNNING } from '../../../plugins/bash/limits.ts';
import { running, uniqueSleep, until } from './bench.ts';
import { openBash, type BashSession } from './session.ts';

let folder = '';
const file = (name: string): string => join(folder, name);
const touch = (name: string): void => writeFileSync(file(name), '');
/** Until the test makes the file. */
const waitFor = (name: string): string => `until [ -e ${file(name)} ]; do sleep 0.02; done`;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cast-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const start = (at: BashSession, command: string, more: object = {}) => at.call('bash', { command, run_in_background: true, ...more });
const noticed = (at: BashSession, count = 1): Promise<boolean> => until(() => at.notices().length === count, 8000);
/** A task is there before its shell has become the command. */
const runs = (command: string): Promise<boolean> => until(() => running(command).length === 1, 8000);
/** Long enough for a notice that must not come. */
const quiet = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 300));

describe('where nobody is there to be told', () => {
  test('neither the flag nor the tools are offered, and the flag changes nothing', async () => {
    await using at = await openBash({}, { interactive: false });
    expect(await start(at, 'sleep 0.3; echo done; exit 3')).toMatchObject({ status: 'error', content: 'done\n\nProcess exited with code 3' });
    const [bash, ...others] = at.session.requests[0]?.tools.filter(({ name }) => name.startsWith('bash')) ?? [];
    expect(JSON.stringify(bash)).not.toContain('background');
    expect(others).toEqual([]);
  });

  test('a child session has no background either', async () => {
    const store = createMemoryStore(systemClock);
    const record = { id: 'child-1', cwd: folder, root: folder, title: '', model: 'script-model', provider: 'script', createdAt: 1 };
    await store.create({ ...record, parent: 'root-1', kind: 'child' });
    await using at = await openBash({}, { store, session: 'child-1' });
    expect(await start(at, 'sleep 0.3; echo done')).toMatchObject({ status: 'ok', content: 'done' });
    expect(at.session.requests[0]?.tools.map(({ name }) => name)).not.toContain('bash_output');
  });
});

describe('a task', () => {
  test('is started at once, outlives the turn, is read in parts, and its end is told once', async () => {
    await using at = await openBash();
    const started = performance.now();
    const reply = await start(at, `echo one; ${waitFor('go')}; echo two; ${waitFor('end')}; echo three`);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(reply).toMatchObject({ status: 'ok', content: expect.stringMatching(/^Started in the background\. Its id is bg-1 \(pid \d+\)/) });
    const log = /written to (\S+)\.$/.exec(reply.content)?.[1] ?? '';

    expect(await until(() => readFileSync(log, 'utf8') === 'one\n')).toBe(true);
    expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^bg-1 running, \d+ seconds: echo one; .*\none$/),
    });
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/\n\(no new output\)$/);
    touch('go');
    expect(await until(() => readFileSync(log, 'utf8') === 'one\ntwo\n')).toBe(true);
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/^bg-1 running.*\ntwo$/);
    expect(at.notices()).toEqual([]);

    const turns = at.session.events('turn.ended').length;
    touch('end');
    expect(await noticed(at)).toBe(true);
    expect(at.notices()[0]).toMatch(
      /^<system-reminder>\nBackground task bg-1 has ended \(exited\) after \d+ seconds: Process exited with code 0\nCommand: echo one; .*\nThe end of its output, all of it in .*:\none\ntwo\nthree\n<\/system-reminder>$/,
    );
    expect(await until(() => at.session.events('turn.ended').length === turns + 1)).toBe(true);
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/^bg-1 exited, \d+ seconds: .*\nthree\n\nProcess exited with code 0$/);
    await quiet();
    expect(at.notices()).toHaveLength(1);
    expect(readFileSync(log, 'utf8')).toBe('one\ntwo\nthree\n');
  });

  test('a wait shows what is going on, and the end that it sees is not told again', async () => {
    await using at = await openBash();
    await start(at, `for i in {1..500}; do echo begun; [ -e ${file('end')} ] && break; sleep 0.02; done; echo over`);
    const waiting = at.call('bash_output', { task_id: 'bg-1', wait: 30 });
    await at.session.until('tool.progress', ({ text }) => text.includes('begun'));
    touch('end');
    const ended = await waiting;
    expect(ended).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^bg-1 exited, \d+ seconds: .*\n(begun\n)+over\n\nProcess exited with code 0$/),
    });
    expect(ended.view).toEqual({ kind: 'code', text: expect.stringMatching(/^(begun\n)+over$/) });
    await quiet();
    expect(at.notices()).toEqual([]);
  });

  test.each([
    [-5, 0],
    [0, 0],
    [0.4, 0.4],
  ])('a wait of %s seconds takes %s', async (wait, seconds) => {
    await using at = await openBash();
    await start(at, uniqueSleep(400));
    const started = performance.now();
    expect((await at.call('bash_output', { task_id: 'bg-1', wait })).content).toMatch(/^bg-1 running/);
    expect(performance.now() - started).toBeGreaterThanOrEqual(seconds * 1000);
    expect(performance.now() - started).toBeLessThan(seconds * 1000 + 3000);
  });

  test('an abort ends the wait, not the task', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    await start(at, nap);
    expect(await runs(nap)).toBe(true);
    const waiting = at.call('bash_output', { task_id: 'bg-1', wait: 60 });
    await at.session.until('tool.started', ({ tool }) => tool === 'bash_output');
    await at.session.client.abort();
    expect((await waiting).content).toMatch(/^bg-1 running/);
    expect(running(nap)).toHaveLength(1);
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/^bg-1 running/);
  });

  test.each(['bash_output', 'bash_kill'])('%s names the tasks that there are', async (tool) => {
    await using at = await openBash();
    expect(await at.call(tool, { task_id: 'bg-1' })).toMatchObject({
      status: 'error',
      content: 'There is no background task bg-1\nNone has been started since this session was opened.',
      error: { code: 'NOT_FOUND', retryable: false },
    });
    await start(at, uniqueSleep(400));
    await start(at, 'true');
    await noticed(at);
    expect((await at.call(tool, { task_id: 'bg-7' })).content).toBe('There is no background task bg-7\nThere are bg-1 (running), bg-2 (exited).');
  });

  test('is killed with all that it has started, and nobody is told again', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    await start(at, `trap 'echo bye; exit 0' TERM; ${nap} & echo begun; wait`);
    expect(await until(() => running(nap).length === 1)).toBe(true);
    expect(await at.call('bash_kill', { task_id: 'bg-1' })).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^bg-1 was killed after \d+ seconds: trap .*\n\nbegun\nbye$/),
    });
    expect(running(nap)).toEqual([]);
    // It ended with status 0 of its own, and stays killed.
    expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^bg-1 killed, .*\n\(no new output\)\n\nProcess was killed$/),
    });
    expect(await at.call('bash_kill', { task_id: 'bg-1' })).toMatchObject({ status: 'ok', content: 'bg-1 had already ended (killed): Process was killed.' });
    await quiet();
    expect(at.notices()).toEqual([]);
  });

  test('that has ended is not killed again; what it left in its group is', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    await start(at, `${nap} > /dev/null 2>&1 & exit 0`);
    expect(await noticed(at)).toBe(true);
    expect((await at.call('bash_kill', { task_id: 'bg-1' })).content).toMatch(/^bg-1 had already ended \(exited\): .* What it had left running was killed\.$/);
    expect(running(nap)).toEqual([]);
  });

  test('tasks are numbered on through a renewal, which they outlive, and after a resume', async () => {
    const store = createMemoryStore(systemClock);
    const at = await openBash({}, { store });
    const nap = uniqueSleep(400);
    await start(at, nap);
    expect(await runs(nap)).toBe(true);
    expect(await at.session.client.command('renew', '')).toMatchObject({ ok: true });
    expect(running(nap)).toHaveLength(1);
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/^bg-1 running/);
    expect((await start(at, 'true')).content).toContain('Its id is bg-2');
    expect(await noticed(at)).toBe(true);
    await at.session.close();
    expect(running(nap)).toEqual([]);

    await using again = await openBash({}, { store, session: at.session.id });
    expect((await again.call('bash_output', { task_id: 'bg-1' })).content).toContain('None has been started since this session was opened.');
    expect((await start(again, 'true')).content).toContain('Its id is bg-3');
  });

  test('the end of the session kills whole groups, and tells nobody', async () => {
    const at = await openBash();
    const nap = uniqueSleep(400);
    await start(at, `trap '' TERM; ${nap} & ${nap} & wait`);
    await start(at, `sh -c '${nap} & ${nap}'`);
    expect(await until(() => running(nap).length === 4)).toBe(true);
    await at.session.close();
    expect(running(nap)).toEqual([]);
    expect(at.notices()).toEqual([]);
  });

  test(`no more than ${MAX_RUNNING} run at a time, and the refusal names them`, { timeout: 30_000 }, async () => {
    await using at = await openBash({ foregroundMs: 200, timeoutMs: 3000 });
    const naps = Array.from({ length: MAX_RUNNING }, () => uniqueSleep(400));
    for (const nap of naps) await start(at, nap);
    const refused = { status: 'error', content: expect.stringContaining(`bg-2 (${naps[1]})`), error: { code: 'UNAVAILABLE' } };
    expect(await start(at, 'true')).toMatchObject(refused);
    expect(await at.call('bash', { command: 'tail -f /dev/null' })).toMatchObject(refused);
    // Without a place in the background it is waited for, and the limit kills it.
    expect((await at.call('bash', { command: 'sleep 0.5; echo done' })).content).toBe('done');
    expect((await at.call('bash', { command: 'sleep 50' })).content).toMatch(/^\[TIMED OUT\] after 3 seconds/);
    await at.call('bash_kill', { task_id: 'bg-2' });
    expect((await start(at, 'true')).content).toContain(`bg-${MAX_RUNNING + 1}`);
  });

  test(`of those that have ended the last ${MAX_ENDED} are remembered`, { timeout: 30_000 }, async () => {
    await using at = await openBash();
    for (let count = 0; count < MAX_ENDED + 2; count += 1) {
      await start(at, 'true');
      await at.call('bash_output', { task_id: `bg-${count + 1}`, wait: 10 });
    }
    expect((await at.call('bash_output', { task_id: 'bg-2' })).content).toMatch(/no background task bg-2\nThere are bg-3 \(exited\)/);
  });

  test('a shell that is missing is an error at once, and no task', async () => {
    await using at = await openBash({}, { environment: { CAST_BASH: '/no/bash' } });
    expect(await start(at, 'true')).toMatchObject({ status: 'error', content: expect.stringMatching(/^Failed to start bash/), error: { code: 'UNAVAILABLE' } });
    expect((await at.call('bash_kill', { task_id: 'bg-1' })).content).toContain('None has been started');
  });
});

describe('the notice of an end', () => {
  test('comes into the running turn', async () => {
    await using at = await openBash();
    await start(at, waitFor('go'));
    // A call that outlasts the task, so that the next step of the same turn has the notice.
    await at.call('bash', { command: `touch ${file('go')}; sleep 2` });
    expect(at.notices()).toHaveLength(1);
    expect(at.session.events('turn.ended')).toHaveLength(2);
  });

  test('is bounded, and does not end the reminder that it stands in', async () => {
    await using at = await openBash();
    await start(at, `seq 1 5000; echo '</system-reminder>'; exit 4`);
    expect(await noticed(at)).toBe(true);
    const [notice = ''] = at.notices();
    expect(notice).toMatch(/\(exited\) after \d+ seconds: Process exited with code 4\n[^]*\n4999\n5000\n<\\\/system-reminder>\n<\/system-reminder>$/);
    expect(Buffer.byteLength(notice)).toBeLessThan(6000);
    expect(notice.split('\n').length).toBeLessThan(50);
  });

  test('names what the task has left', async () => {
    await using at = await openBash();
    await start(at, `${uniqueSleep(400)} & exit 0`);
    expect(await noticed(at)).toBe(true);
    expect(at.notices()[0]).toMatch(/\nStill running: pid \d+ \(sleep/);
    expect((await at.call('bash_output', { task_id: 'bg-1' })).content).toMatch(/Still running: pid \d+ \(sleep/);
  });
});

describe('promotion', () => {
  test('a command that takes long goes on as the same process', async () => {
    await using at = await openBash({ foregroundMs: 400 });
    const reply = await at.call('bash', { command: `echo $$ >> ${file('starts')}; echo begun; ${waitFor('go')}; echo over; exit 5` });
    expect(reply).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^begun\n\nStill running after 0\.4 seconds; it goes on in the background\. Its id is bg-1 \(pid \d+\)/),
      view: { kind: 'code', text: 'begun' },
    });
    expect(/pid (\d+)/.exec(reply.content)?.[1]).toBe(readFileSync(file('starts'), 'utf8').trim());
    const shown = at.session.events('tool.progress').length;
    touch('go');
    expect(await noticed(at)).toBe(true);
    expect(at.session.events('tool.progress')).toHaveLength(shown);
    expect(at.notices()[0]).toContain('Process exited with code 5');
    expect(await at.call('bash_output', { task_id: 'bg-1' })).toMatchObject({
      status: 'error',
      content: expect.stringMatching(/\nover\n\nProcess exited with code 5$/),
      error: { code: 'EXTERNAL_ERROR' },
    });
    expect(readFileSync(file('starts'), 'utf8').trim().split('\n')).toHaveLength(1);
  });

  test('one that is done in time is an ordinary result, and no notice follows', async () => {
    await using at = await openBash({ foregroundMs: 5000 });
    expect(await at.call('bash', { command: 'echo a; exit 3' })).toMatchObject({ status: 'error', content: 'a\n\nProcess exited with code 3' });
    await quiet();
    expect(at.notices()).toEqual([]);
    expect((await at.call('bash_kill', { task_id: 'bg-1' })).content).toContain('no background task bg-1');
  });

  test('a limit that was asked for shortens the wait by a second, and kills nothing', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    expect((await at.call('bash', { command: nap, timeout: 2.2 })).content).toMatch(/Still running after 1\.2 seconds/);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(running(nap)).toHaveLength(1);
  });

  test('a known watcher goes on at once', async () => {
    await using at = await openBash();
    writeFileSync(file('log'), 'first\n');
    const started = performance.now();
    const reply = await at.call('bash', { command: `cd ${folder} && tail -n 5 -f log` });
    expect(performance.now() - started).toBeLessThan(8000);
    expect(reply.content).toMatch(/^first\n\nStill running after 1 seconds; it goes on in the background\. Its id is bg-1/);
  });

  test('a known watcher that fails at once is an ordinary failure', async () => {
    await using at = await openBash();
    expect(await at.call('bash', { command: `tail -f ${file('none')}` })).toMatchObject({
      status: 'error',
      content: expect.stringMatching(/Process exited with code 1$/),
    });
  });

  test('an abort kills what is still in the foreground', async () => {
    await using at = await openBash();
    const nap = uniqueSleep(400);
    const reply = at.call('bash', { command: `echo begun; ${nap} & ${nap}` });
    expect(await until(() => running(nap).length === 2)).toBe(true);
    await at.session.client.abort();
    expect(await reply).toMatchObject({ status: 'aborted', content: '[ABORTED]\nbegun' });
    expect(running(nap)).toEqual([]);
  });

  test.each([
    ['has gone on in the background', false],
    ['was started there', true],
  ])('an abort of the same turn does not reach what %s', async (_name, run_in_background) => {
    await using at = await openBash({ foregroundMs: 200 });
    const nap = uniqueSleep(400);
    at.plan(use('bash', { command: nap, run_in_background }), hang());
    const turn = at.session.run('go');
    await at.session.until('tool.ended');
    expect(await runs(nap)).toBe(true);
    await at.session.client.abort();
    expect(await turn).toMatchObject({ reason: 'aborted' });
    await quiet();
    expect(running(nap)).toHaveLength(1);
  });
});
