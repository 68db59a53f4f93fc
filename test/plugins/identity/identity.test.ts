import { expect, test } from 'vitest';
import identity from '../../../plugins/identity/index.ts';
import { createTestSession, say } from '../../../kernel/testkit/index.ts';

test('the prompt begins with who it is and ends with where it is', async () => {
  await using session = await createTestSession({ plugins: [identity], script: [say('ok')], environment: { CAST_BASH: '/opt/bin/bash5' } });
  await session.run('hello');
  const system = session.requests[0]?.system ?? '';
  expect(system).toMatch(/^You are cast/);
  expect(system).toMatch(
    new RegExp(`\\n# Environment\\nWorking directory: ${session.cwd}\\nPlatform: ${process.platform} ${process.arch}\\nShell: bash5\\nModel: script-model$`),
  );
});

test('two sessions of the same place and model get the same bytes, whenever they run', async () => {
  const systems: (string | undefined)[] = [];
  for (const at of [0, 4_000_000_000_000]) {
    const clock = { now: () => at, sleep: () => new Promise<void>(() => undefined) };
    await using session = await createTestSession({ plugins: [identity], script: [say('ok')], cwd: '/tmp', clock });
    await session.run('hello');
    systems.push(session.requests[0]?.system);
  }
  expect(systems[0]).toBe(systems[1]);
  expect(systems[0]).not.toMatch(/\b(?:19|20)\d\d\b/);
});

test('the root of the project is named where it is another folder', async () => {
  await using session = await createTestSession({ plugins: [identity], script: [say('ok')], cwd: '/tmp', root: '/' });
  await session.run('hello');
  expect(session.requests[0]?.system).toContain('\nProject root: /\n');
});
