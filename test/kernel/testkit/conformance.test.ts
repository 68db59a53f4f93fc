/** That the checks find what they are for: each is shown a plugin that fails it. */
import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { definePlugin, type Plugin } from 'cast';
import { conformance } from 'cast/testkit';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});
const check = (plugin: Plugin, name: string): Promise<void> => {
  const found = conformance(plugin, { name: 'mine' }).find((each) => each.name === name);
  if (!found) throw new Error(`there is no check "${name}"`);
  return found.run();
};

describe('leaves no handle open', () => {
  const NAME = 'leaves no handle open';
  const ticking = (after: (timer: NodeJS.Timeout, scope: { onDispose(run: () => void): void }) => void): Plugin =>
    definePlugin({
      apply: ({ onDispose }) => {
        const timer = setInterval(() => undefined, 10_000);
        cleanups.push(() => clearInterval(timer));
        after(timer, { onDispose });
      },
    });
  const listening = (): Plugin =>
    definePlugin({
      apply: () => {
        const server: Server = createServer().listen(0, '127.0.0.1');
        cleanups.push(() => void server.close());
      },
    });

  test('finds an interval', () =>
    expect(
      check(
        ticking(() => undefined),
        NAME,
      ),
    ).rejects.toThrow('still open: 1 Timeout'));
  test('finds a server', () => expect(check(listening(), NAME)).rejects.toThrow(/still open: 1 TCPS/));
  test('finds one more of a kind that there was already', async () => {
    const other = setInterval(() => undefined, 10_000);
    cleanups.push(() => clearInterval(other));
    await expect(
      check(
        ticking(() => undefined),
        NAME,
      ),
    ).rejects.toThrow('still open: 1 Timeout');
  });
  test('lets pass what is unref’d', () =>
    check(
      ticking((timer) => void timer.unref()),
      NAME,
    ));
  test('lets pass what is cleared at the end', () =>
    check(
      ticking((timer, { onDispose }) => onDispose(() => clearInterval(timer))),
      NAME,
    ));
});

test.each<[string, Plugin, RegExp]>([
  [
    'loads, and a turn runs with it',
    definePlugin({
      apply: ({ hooks }) =>
        hooks.prepare.tap('x', () => {
          throw new Error('oops');
        }),
    }),
    /it failed: .*oops/,
  ],
  ['taps what its manifest says, and nothing else', definePlugin({ taps: ['prepare'], apply: () => undefined }), /names prepare, it taps none/],
])('%s: finds what does not', (name, plugin, message) => expect(check(plugin, name)).rejects.toThrow(message));
