/** Several calls in one reply, as whole processes. */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { say, type Reply } from '../provider.ts';
import { useCommand } from './command.ts';
import { linesOf, start } from './program.ts';

const { program, provide, project } = useCommand();
const stream = ['run', '--format', 'stream-json'];
const batch = (...calls: readonly (readonly [tool: string, input: object])[]): Reply => ({
  calls: calls.map(([tool, input], index) => ({ tool, input, id: `c${index + 1}` })),
});
const toolsOf = (sent: readonly { readonly role: string }[]) =>
  sent.filter(({ role }) => role === 'tool') as unknown as readonly { tool_call_id: string; content: string }[];

test('B018: calls on one file run in the order given, and their results stand in that order', async () => {
  const place = project();
  const provider = await provide(
    batch(
      ['write', { path: 'new.txt', content: 'one\n' }],
      ['edit', { filePath: 'new.txt', oldString: 'one', newString: 'two' }],
      ['edit', { filePath: 'new.txt', oldString: 'two', newString: 'three' }],
    ),
    say('done'),
  );
  const run = await start([...stream, 'go'], { program: program(), place, provider }).done;
  expect([run.code, readFileSync(join(place.cwd, 'new.txt'), 'utf8')]).toEqual([0, 'three\n']);
  expect(linesOf(run).flatMap(({ type, id, status }) => (type === 'tool_end' ? [[id, status]] : []))).toEqual([
    ['c1', 'ok'],
    ['c2', 'ok'],
    ['c3', 'ok'],
  ]);
  expect(toolsOf(provider.requests[1]?.body.messages ?? []).map(({ tool_call_id: id }) => id)).toEqual(['c1', 'c2', 'c3']);
});

test('B019: one call that works, one whose folder is gone, one of no tool: three results, and the turn goes on', async () => {
  const place = project({ 'a.txt': 'alpha\n' });
  const below = join(place.cwd, 'below');
  mkdirSync(below);
  const provider = await provide(
    batch(['bash', { command: `rm -r '${below}'` }]),
    batch(['read', { path: join(place.cwd, 'a.txt') }], ['bash', { command: 'pwd' }], ['raed', { path: 'a.txt' }]),
    say('done'),
  );
  const run = await start([...stream, '--allow', 'bash', 'go'], { program: program(), place: { ...place, cwd: below }, provider }).done;
  expect(run.code, run.stderr).toBe(0);
  expect(existsSync(below)).toBe(false);
  const results = toolsOf(provider.requests[2]?.body.messages ?? []).slice(1);
  expect(results.map(({ tool_call_id: id }) => id)).toEqual(['c1_2', 'c2', 'c3']);
  expect(results[0]?.content).toContain('alpha');
  expect(results[1]?.content).toContain(below);
  expect(results[2]?.content).toMatch(/raed[\s\S]*read/);
  expect(linesOf(run).flatMap(({ type, status }) => (type === 'tool_end' ? [status] : []))).toEqual(['ok', 'ok', 'error', 'error']);
  expect(linesOf(run).at(-1)).toMatchObject({ type: 'end', reason: 'stop' });
});
