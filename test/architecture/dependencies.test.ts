/** Who imports whom, and that each rule about it catches what it is for. */
import { beforeAll, describe, expect, test } from 'vitest';
import { cruise, RULES, TYPES, type Findings } from './dependency-rules.ts';
import { filesBelow, FIXTURES, pluginFolders, ROOT } from './sources.ts';

describe('the sources', () => {
  let found: Findings;
  beforeAll(async () => {
    found = await cruise(ROOT);
  }, 120_000);

  test('are read, all of them', () => {
    const files = ['kernel', 'plugins', 'cli'].flatMap((folder) => filesBelow(folder));
    const read = new Set(found.modules.map(({ source }) => source));
    expect(files.filter((file) => !read.has(file))).toEqual([]);
    expect(files.length).toBeGreaterThan(100);
  });

  test('keep the rules', () => {
    expect(found.violations).toEqual([]);
  });

  // What stands before the first request must not pull in a package.
  test.each(pluginFolders())('plugin %s: its body loads no package before it is needed', (plugin) => {
    const modules = new Map(found.modules.map((module) => [module.source, module]));
    const seen = new Set<string>();
    const packages = new Set<string>();
    const visit = (source: string): void => {
      if (seen.has(source) || source === 'kernel/index.ts') return;
      seen.add(source);
      for (const { resolved, dynamic, coreModule, dependencyTypes } of modules.get(source)?.dependencies ?? []) {
        if (dynamic || coreModule || TYPES.some((type) => dependencyTypes.includes(type))) continue;
        if (resolved.includes('node_modules/')) packages.add(`${source} → ${resolved}`);
        else visit(resolved);
      }
    };
    visit(`plugins/${plugin}/index.ts`);
    expect([...packages]).toEqual([]);
  });
});

describe('the rules', () => {
  const EXPECTED = [
    'bodies-come-late: cli/builtins.ts → plugins/a/index.ts',
    'builtins-take-manifest-and-body: cli/builtins.ts → plugins/a/body.ts',
    'calls-and-replies-know-no-loop: kernel/call/call.ts → kernel/turn/turn.ts',
    'cli-takes-manifests: cli/cli.ts → plugins/b/index.ts',
    'contracts-are-types: kernel/contracts/contract.ts → kernel/face.ts',
    'ground-is-ground: kernel/ground.ts → kernel/hooks/hook.ts',
    'hooks-know-no-session: kernel/hooks/hook.ts → kernel/session/session.ts',
    'host-needs-no-testkit: kernel/host/host.ts → kernel/testkit/index.ts',
    'kernel-packages: kernel/host/host.ts → ../../../../node_modules/zod/index.js',
    'kernel-stands-alone: kernel/host/host.ts → plugins/a/manifest.ts',
    'no-circle: kernel/host/chicken.ts → kernel/host/egg.ts',
    'no-dead-file: kernel/host/dead.ts → kernel/host/dead.ts',
    'no-riddle: plugins/b/riddle.mjs → ./missing.mjs',
    'plugin-keeps-to-itself: plugins/b/index.ts → plugins/a/body.ts',
    'plugin-knows-no-cli: plugins/b/index.ts → cli/help.ts',
    'plugin-sees-the-face: plugins/a/index.ts → kernel/types-one.ts',
    'session-runs-no-turn: kernel/session/session.ts → kernel/turn/turn.ts',
    'turn-knows-no-host: kernel/turn/turn.ts → kernel/host/host.ts',
    'wire-chat-keeps-to-itself: plugins/providers/index.ts → plugins/providers/chat/chunk.ts',
    'wire-responses-keeps-to-itself: plugins/providers/index.ts → plugins/providers/responses/item.ts',
  ];

  test('each catches what it is for, and nothing else', async () => {
    const { violations } = await cruise(`${FIXTURES}/dependencies`);
    expect(violations).toEqual(EXPECTED);
    expect(RULES.map(({ name }) => name).filter((name) => !EXPECTED.some((line) => line.startsWith(`${name}:`)))).toEqual([]);
  }, 120_000);
});
