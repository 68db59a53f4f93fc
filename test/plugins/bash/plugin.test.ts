import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSpawner, scrubEnvironment } from '../../../kernel/host/spawn.ts';
import { validate, type Scope, type Tool } from '../../../kernel/index.ts';
import { defaultsOf } from '../../../kernel/schema.ts';
import bash from '../../../plugins/bash/index.ts';
import type { ShellLimits } from '../../../plugins/bash/limits.ts';
import { running, testCall, uniqueSleep } from './bench.ts';

const optionsOf = async (given: object) => {
  if (!bash.spec.options) throw new Error('no options');
  return validate(bash.spec.options, given);
};

/** Applies the plugin to as much of a scope as it uses. */
const apply = (options: unknown, environment: Readonly<Record<string, string>> = {}) => {
  const tools: Tool[] = [];
  const disposals: (() => void | Promise<void>)[] = [];
  let ids = 0;
  const scope = {
    options,
    environment,
    powers: { process: createSpawner({ environment: scrubEnvironment(process.env), plugin: 'bash', prepare: async (spec) => spec }) },
    ids: { next: (kind: string) => `${kind}-${process.pid}-${(ids += 1)}` },
    registries: { tools: { add: (tool: Tool) => void tools.push(tool) } },
    onDispose: (run: () => void | Promise<void>) => void disposals.push(run),
  };
  bash.spec.apply?.(scope as unknown as Scope<ShellLimits, never>);
  const [tool] = tools;
  if (!tool) throw new Error('no tool');
  return {
    tool,
    run: (input: object, cwd: string) => tool.run(input as never, testCall(cwd)),
    dispose: async () => {
      for (const run of disposals) await run();
    },
  };
};

test('the tool says what it is', async () => {
  const { tool, dispose } = apply(
    defaultsOf(
      bash.spec.options ??
        (() => {
          throw new Error('no options');
        })(),
    ),
  );
  expect(tool).toMatchObject({ name: 'bash', effect: 'exec' });
  expect(tool.aliases).toContain('shell');
  expect(tool.card.description).toMatch(/2000 lines.*180 seconds/);
  expect(await validate(tool.schema, { timeout: 1 })).toHaveProperty('issues');
  expect(await validate(tool.schema, { command: 'a', timeout: 1.5 })).toEqual({ value: { command: 'a', timeout: 1.5 } });
  await dispose();
});

test.each([
  [{}, { timeoutMs: 180_000, maxLines: 2000, maxBytes: 131_072 }],
  [{ timeoutMs: 1000 }, { timeoutMs: 1000, maxLines: 2000, maxBytes: 131_072 }],
])('options %j', async (given, value) => {
  expect(await optionsOf(given)).toEqual({ value });
});

test.each([{ timeoutMs: 0 }, { timeoutMs: '5' }, { maxBytes: 1e9 }, { maxLines: -1 }, { lines: 5 }])('options %j are refused', async (given) => {
  expect(await optionsOf(given)).toHaveProperty('issues');
});

test('it runs commands, with the shell of the environment, and leaves nothing behind', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'cast-test-'));
  try {
    const nap = uniqueSleep(400);
    const plain = apply({ timeoutMs: 5000, maxLines: 10, maxBytes: 1000 });
    expect(await plain.run({ command: `${nap} & seq 1 20` }, cwd)).toMatchObject({
      status: 'ok',
      content: expect.stringMatching(/^\[10 lines[^]*20\n\nStill running: pid/),
    });
    expect(running(nap)).toHaveLength(1);
    await plain.dispose();
    expect(running(nap)).toEqual([]);
    const other = apply({ timeoutMs: 5000, maxLines: 10, maxBytes: 1000 }, { CAST_BASH: '/bin/echo' });
    expect(await other.run({ command: 'true' }, cwd)).toMatchObject({ content: '-c true' });
    await other.dispose();
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
});
