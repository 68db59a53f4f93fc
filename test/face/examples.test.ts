/** Five plugins as a third party would write them: they compile without a cast and do what they say. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import type { CastConfig, Plugin } from 'cast';
import { definePlugin, defineTool, jsonSchema } from 'cast';
import { createTestSession, fail, say, use } from 'cast/testkit';
import config from './fixtures/cast.config.ts';
import checkpoint from './fixtures/git-checkpoint.ts';
import gateway from './fixtures/gateway.ts';
import lint from './fixtures/lint-after-edit.ts';
import teamGate from './fixtures/team-gate.ts';
import terse from './fixtures/terse-compaction.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pluginsOf = (from: CastConfig): Record<string, Plugin> =>
  Object.fromEntries(Object.entries(from.plugins ?? {}).filter(([, value]) => typeof value === 'object' && value !== null && 'kind' in value)) as Record<
    string,
    Plugin
  >;
const writer = definePlugin({
  name: 'writer',
  apply: ({ registries }) => {
    const input = jsonSchema<{ path: string; content: string }>({
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path'],
    });
    registries.tools.add(defineTool({ name: 'write', description: 'x', effect: 'write', input, paths: ({ path }) => [path], run: async () => 'written' }));
    registries.tools.add(defineTool({ name: 'read', description: 'x', effect: 'read', input, paths: ({ path }) => [path], run: async () => 'text' }));
    registries.tools.add(
      defineTool({
        name: 'bash',
        description: 'x',
        effect: 'exec',
        input: jsonSchema<{ command: string }>({ type: 'object', required: ['command'] }),
        run: async ({ command }) => `ran ${command}`,
      }),
    );
  },
});

const shared = join(root, '../shared/design/face-examples');
describe('types', () => {
  test.skipIf(!existsSync(shared))('the proposed examples compile against the face (skipped where the proposals are not at hand)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cast-face-'));
    try {
      cpSync(shared, folder, { recursive: true });
      mkdirSync(join(folder, 'node_modules'));
      symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions: { paths: { cast: [join(root, 'cli/index.ts')] } }, include: ['*.ts'] }),
      );
      const checked = spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], { encoding: 'utf8' });
      expect(checked.stdout).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('a plugin of a dozen lines in cast.config.ts: a gate and a tool', async () => {
  await using session = await createTestSession({
    plugins: { ...pluginsOf(config), writer },
    script: [use(['bash', { command: 'git push --force' }], ['bash', { command: 'git push' }], ['deploy', { ref: 'main' }], ['deploy', {}]), say('done')],
  });
  await session.run('go');
  expect(session.results()).toMatchObject([
    { status: 'denied', content: 'use --force-with-lease' },
    { status: 'ok', content: 'ran git push' },
    { status: 'ok', content: 'deployed main' },
    { status: 'error', error: { code: 'INVALID_ARGUMENT' } },
  ]);
});

test('a permission gate: protected paths and a question', async () => {
  await using session = await createTestSession({
    plugins: [teamGate.with({ askFor: ['bash'] }) as Plugin, writer],
    script: [
      use(['write', { path: 'infra/main.tf' }], ['read', { path: 'infra/main.tf' }], ['write', { path: 'src/a.ts' }], ['bash', { command: 'ls' }]),
      say('done'),
    ],
    interactive: true,
    answer: () => 'once',
  });
  await session.run('go');
  expect(session.results().map((result) => result.status)).toEqual(['denied', 'ok', 'ok', 'ok']);
  expect(session.events('question.answered')).toMatchObject([{ rules: ['tool:bash'], choice: 'once' }]);
});

test('a provider over its own protocol', async () => {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(JSON.parse(body), request.headers.authorization);
      if (bodies.length > 2) return response.writeHead(401).end();
      response.write('{"text":"Hel"}\n{"text":"lo"}\n{"usage":{"in":7,"out":2}}\n');
      response.end('{"stop":"stop"}\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await using session = await createTestSession({
    plugins: [gateway.with({ url: `http://127.0.0.1:${port}/` }) as Plugin],
    config: { provider: 'gateway', model: 'large' },
    environment: { GATEWAY_KEY: 'key-of-the-gateway' },
  });
  expect(await session.run('hi')).toMatchObject({ reason: 'stop', usage: { promptTokens: 7, completionTokens: 2, totalTokens: 9 } });
  expect(session.text()).toBe('Hello');
  expect(bodies[1]).toBe('Bearer key-of-the-gateway');
  expect(await session.run('again')).toMatchObject({ exitCode: 2 });
  expect(session.events('error')).toMatchObject([{ code: 'MODEL_AUTH' }]);
  server.close();
});

test('a checkpoint before the first change of a turn, restored by a command', async () => {
  await using session = await createTestSession({
    plugins: [checkpoint as Plugin, writer],
    script: [use(['write', { path: 'a.txt' }], ['write', { path: 'b.txt' }]), say('done')],
    interactive: true,
    answer: () => 'yes',
  });
  const git = (...args: string[]) =>
    spawnSync('git', args, {
      cwd: session.cwd,
      encoding: 'utf8',
      env: { ...process.env, GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@example.invalid', GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@example.invalid' },
    });
  git('init', '-q');
  git('config', 'user.name', 't');
  git('config', 'user.email', 't@example.invalid');
  writeFileSync(join(session.cwd, 'a.txt'), 'committed\n');
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
  writeFileSync(join(session.cwd, 'a.txt'), 'mine\n');
  await session.run('go');
  expect(session.events('tap.fault')).toEqual([]);
  expect((await session.client.snapshot()).panels).toMatchObject([
    { name: 'checkpoints', sketch: { kind: 'table', rows: [{ cells: ['0', expect.any(String), '1'] }] } },
  ]);
  writeFileSync(join(session.cwd, 'a.txt'), 'spoilt\n');
  expect(await session.client.command('checkpoint', 'restore 0')).toEqual({ ok: true, result: 'Back at turn 1.' });
  expect(spawnSync('cat', ['a.txt'], { cwd: session.cwd, encoding: 'utf8' }).stdout).toBe('mine\n');
  expect((await session.client.page()).items.filter((item) => item.kind === 'message' && item.inContext)).toEqual([]);
});

test('a compaction of its own', async () => {
  await using session = await createTestSession({
    plugins: [
      terse.with({ keepTurns: 1 }) as Plugin,
      writer,
      definePlugin({
        name: 'overflow',
        apply: ({ hooks }) =>
          hooks.failure.tap('compact', async (failure, at) =>
            failure.kind === 'overflow' && (await at.session.compact('overflow', at.signal)) ? { retry: { reason: 'compacted' } } : undefined,
          ),
      }),
    ],
    script: [use('read', { path: 'src/one.ts' }), say('first'), say('second'), fail('overflow'), say('third')],
  });
  for (const text of ['look at one', 'and two', 'and three']) await session.run(text);
  const summary = JSON.stringify(session.requests.at(-1)?.messages[0]);
  expect(summary).toContain('- user: look at one');
  expect(summary).toContain('- file: src/one.ts');
  expect(session.requests.at(-1)?.messages).toHaveLength(2);
});

test('findings of a linter in the result of each edit', async () => {
  const linter = ['sh', '-c', 'for file; do echo "$file:3:1: unused name"; done', 'lint'];
  await using session = await createTestSession({
    plugins: [lint.with({ command: linter }) as Plugin, writer],
    script: [use('write', { path: 'a.ts' }), say('done')],
  });
  await session.run('go');
  expect(session.results()).toMatchObject([{ status: 'ok', content: `written\n\n${session.cwd}/a.ts:3: unused name` }]);
});
