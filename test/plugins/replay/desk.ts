/** A session with plugins that rewrite, vote, reject, retry and remember, recorded and played again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkedBy, definePlugin, defineTool, jsonSchema, type EventMap, type Plugin } from '../../../kernel/index.ts';
import { countingIds, createTestSession, type Beat, type TestSessionOptions } from '../../../kernel/testkit/index.ts';
import replay from '../../../plugins/replay/index.ts';
import type { WholeRecording } from '../../../plugins/replay/recording.ts';
import type { Difference } from '../../../plugins/replay/trace.ts';

export interface Behaviour {
  readonly rewrites: (text: string) => string | undefined;
  readonly rejects: (text: string) => string | undefined;
  readonly votes: (text: string) => { readonly deny: string } | { readonly ask: string } | undefined;
}
export const USUAL: Behaviour = {
  rewrites: (text) => (text.startsWith('rewrite') ? `${text}, rewritten` : undefined),
  rejects: (text) => (text.includes('bad') ? 'not like that' : undefined),
  votes: (text) => (text.startsWith('deny') ? { deny: 'never' } : text.startsWith('ask') ? { ask: `Really ${text}?` } : undefined),
};

const input = jsonSchema<{ text: string }>({ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] });

export const pluginsOf = ({ rewrites, rejects, votes }: Behaviour, ran: string[]): readonly Plugin[] => [
  definePlugin({
    name: 'tools',
    apply: ({ registries, state, hooks }) => {
      const noted = state({
        name: 'noted',
        data: checkedBy<{ n: number }>('a note', ({ n }) => typeof n === 'number'),
        initial: 0,
        fold: (sum: number, { n }) => sum + n,
      });
      const tool = (name: string, effect: 'read' | 'write', run: (text: string) => Promise<string>) =>
        registries.tools.add(
          defineTool({
            name,
            description: name,
            input,
            effect,
            run: async ({ text }) => {
              ran.push(`${name} ${text}`);
              return run(text);
            },
          }),
        );
      tool('look', 'read', async (text) => {
        await new Promise((resolve) => setTimeout(resolve, text.length % 7));
        return `saw ${text}`;
      });
      tool('make', 'write', async (text) => {
        if (text.includes('fail')) throw new Error(`cannot make ${text}`);
        return `made ${text} at ${performance.now()}`;
      });
      tool('note', 'write', async () => {
        await noted.record({ n: 1 });
        return 'noted';
      });
      // Depends on what a body has recorded.
      hooks.prepare.tap('stop when enough is noted', () => (noted.value >= 4 ? { stop: 'enough' } : undefined));
    },
  }) as Plugin,
  definePlugin({
    name: 'rewriter',
    apply: ({ hooks }) =>
      hooks.call.tap('rewrite', (call) => {
        const { text } = call.input as { text: string };
        const other = rewrites(text);
        return other === undefined ? undefined : { input: { text: other } };
      }),
  }) as Plugin,
  definePlugin({
    name: 'reviewer',
    apply: ({ hooks }) =>
      hooks.reply.tap('review', (review) => {
        const reason = rejects(review.raw);
        if (reason !== undefined) review.reject(reason);
      }),
  }) as Plugin,
  definePlugin({
    name: 'voter',
    apply: ({ hooks }) => hooks.gate.tap('vote', (call) => votes((call.input as { text: string }).text)),
  }) as Plugin,
  definePlugin({
    name: 'patient',
    apply: ({ hooks }) => hooks.failure.tap('again', ({ kind }) => (kind === 'overload' ? { retry: { reason: 'once more', afterMs: 1 } } : undefined)),
  }) as Plugin,
];

export interface Desk {
  readonly file: string;
  readonly cwd: string;
  record(script: readonly Beat[], prompts: readonly string[], more?: Partial<TestSessionOptions>): Promise<Recorded>;
  check(plugins?: readonly Plugin[], more?: Partial<TestSessionOptions>): Promise<Checked>;
  recording(): WholeRecording;
  remove(): void;
}
export interface Recorded {
  readonly ends: readonly EventMap['turn.ended'][];
  readonly ran: readonly string[];
}
export interface Checked extends Recorded {
  readonly difference: Difference | undefined;
  readonly requests: number;
}

export const makeDesk = (): Desk => {
  const cwd = mkdtempSync(join(tmpdir(), 'cast-recorded-'));
  const file = join(cwd, 'session.json');
  const open = (plugins: readonly Plugin[], options: object, more: Partial<TestSessionOptions>) =>
    createTestSession({ cwd, ids: countingIds(), ...more, plugins: [replay as never, ...plugins], config: { ...more.config, plugins: { replay: options } } });
  const recording = (): WholeRecording => JSON.parse(readFileSync(file, 'utf8')) as WholeRecording;
  return {
    file,
    cwd,
    record: async (script, prompts, more = {}) => {
      const ran: string[] = [];
      await using session = await open(more.plugins ? (more.plugins as readonly Plugin[]) : pluginsOf(USUAL, ran), { record: file }, { ...more, script });
      const ends: EventMap['turn.ended'][] = [];
      for (const prompt of prompts) ends.push(await session.run(prompt));
      return { ends, ran };
    },
    check: async (plugins, more = {}) => {
      const ran: string[] = [];
      await using session = await open(plugins ?? pluginsOf(USUAL, ran), { check: file, delays: false }, more);
      const ends: EventMap['turn.ended'][] = [];
      for (const { text } of recording().session.inputs.filter(({ isRunning }) => !isRunning)) ends.push(await session.run(text));
      const outcome = await session.client.command('replay', '');
      if (!outcome.ok) throw new Error(outcome.message);
      const { difference } = JSON.parse(String(outcome.result)) as { readonly difference?: Difference };
      return { ends, ran, difference, requests: session.requests.length };
    },
    recording,
    remove: () => rmSync(cwd, { recursive: true, force: true }),
  };
};
