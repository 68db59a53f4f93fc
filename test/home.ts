/** A kernel with every built-in plugin and its real store, on a home that outlives it: what a restart of the process finds. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtins } from '../cli/builtins.ts';
import { createKernel } from '../kernel/host/kernel.ts';
import { manifestOf } from '../kernel/host/manifest.ts';
import { definePlugin, type CastConfig, type Client, type Entry, type EventMap, type ModelRequest, type Plugin } from '../kernel/index.ts';
import { type EventLog, followEvents } from '../kernel/testkit/event-log.ts';
import { type Beat, scriptedProvider } from '../kernel/testkit/index.ts';

export interface Home {
  /** Starts a kernel, and a session on it; with an id the one of that id. */
  start(script: readonly Beat[], more?: StartOptions): Promise<Started>;
  remove(): Promise<void>;
}
export interface StartOptions {
  readonly session?: string;
  readonly interactive?: boolean;
  readonly config?: CastConfig;
  readonly plugins?: readonly Plugin[];
}
export interface Started {
  readonly id: string;
  readonly client: Client;
  readonly log: EventLog;
  readonly requests: readonly ModelRequest[];
  /** Of the branch, as they are stored. */
  entries(): Promise<readonly Entry[]>;
  /** Submits and waits for the end of that turn. */
  run(text: string): Promise<EventMap['turn.ended']>;
  /** Ends the process as far as a test can. */
  stop(): Promise<void>;
}

export const makeHome = (): Home => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cast-home-')));
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')];
  mkdirSync(cwd);
  const stops: (() => Promise<void>)[] = [];
  return {
    start: async (script, { session, interactive = true, config = {}, plugins = [] } = {}) => {
      const provider = scriptedProvider(script);
      const speaking = definePlugin({ name: 'speaking', apply: ({ registries }) => void registries.providers.add(provider) });
      const refs = [speaking as Plugin, ...plugins].map((plugin) => {
        const { name = 'of-the-test' } = plugin.spec;
        return { manifest: manifestOf(name, plugin.spec), builtin: false, source: 'test', load: async () => plugin };
      });
      const kernel = createKernel({ home, version: '0.0.0-test', builtins });
      const opened = await kernel.open({
        cwd,
        root: cwd,
        interactive,
        environment: { PATH: process.env['PATH'], HOME: folder },
        layers: [{ name: 'flags', data: { provider: 'script', model: 'script-model', ...config } }],
        plugins: refs,
        ...(session === undefined ? {} : { session: { id: session } }),
      });
      const { client, id } = opened;
      const log = followEvents(client, undefined);
      const stop = async (): Promise<void> => {
        await opened.close('test over');
        await log.ended;
        await kernel.shutdown('test over');
      };
      stops.push(stop);
      let submitted = 0;
      const run = async (text: string): Promise<EventMap['turn.ended']> => {
        const clientId = `${id}-${++submitted}`;
        const ended = log.until('turn.ended', (end) => end.clientId === clientId);
        await client.submit({ text, clientId });
        return ended;
      };
      const entries = async (): Promise<readonly Entry[]> => (await kernel.store()).branch(id);
      return { id, client, log, requests: provider.requests, entries, run, stop };
    },
    remove: async () => {
      for (const stop of stops) await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
