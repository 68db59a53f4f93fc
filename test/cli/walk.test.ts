/**
 * A random walk of whole processes over the sessions of one home: runs that end, are interrupted or killed, resumes, forks, clears, compactions, undone turns. Each request
 * is one that a strict provider takes and holds exactly the prompts that belong there; what was stored stays as it was; nothing runs twice.
 * `CAST_WALKS=50` takes as many; the seed of a failure is in its message.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, say, startResponder, type Received, type Reply, type TestProvider } from '../provider.ts';
import { refusal, type SentMessage } from '../strict.ts';
import { bundleCommand, type Bundle } from './bundle.ts';
import { createPlace, linesOf, start, type Outcome, type Place } from './program.ts';

const WALKS = Number(process.env['CAST_WALKS'] ?? 2);
const SEED = Number(process.env['CAST_WALK_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const STEPS = 12;

let bundle: Bundle;
beforeAll(async () => {
  bundle = await bundleCommand();
}, 60_000);
afterAll(() => bundle.remove());

type Ending = 'whole' | 'killed' | 'interrupted';
/** So many milliseconds after its start, its first text, or the start of its first call. */
interface Moment {
  readonly behind: 'start' | 'token' | 'tool_start';
  readonly ms: number;
}
type Step =
  | { readonly kind: 'run'; readonly on: 'new' | 'same' | 'other'; readonly calls: number; readonly ending: Ending; readonly end: Moment }
  | { readonly kind: 'fork' | 'clear' | 'compact' | 'undo'; readonly on: 'same' | 'other' };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('run' as const),
      on: fc.constantFrom('new', 'same', 'same', 'same', 'other'),
      calls: fc.nat(3),
      ending: fc.constantFrom<Ending>('whole', 'whole', 'killed', 'interrupted'),
      end: fc.record({ behind: fc.constantFrom<Moment['behind']>('start', 'token', 'tool_start', 'tool_start'), ms: fc.nat(300) }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('fork' as const, 'clear' as const, 'compact' as const, 'undo' as const),
      on: fc.constantFrom('same', 'other'),
    }),
  },
);

/** A prompt that may or may not have come to be stored before its process ended, until a request tells. */
interface Prompt {
  readonly text: string;
  isSure: boolean;
  /** Compactions that may have taken it, and then all before it as well. */
  readonly cuts: Set<number>;
}
interface Known {
  readonly id: string;
  prompts: Prompt[];
}

class Walk {
  readonly #place: Place = createPlace();
  readonly #sessions: Known[] = [];
  readonly #rows = new Map<string, string>();
  #provider: TestProvider | undefined;
  #count = 0;
  #cuts = 0;

  async begin(): Promise<void> {
    this.#provider = await startResponder((request) => replyTo(request));
  }
  async end(): Promise<void> {
    await this.#provider?.close();
    this.#place.remove();
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'run') await this.#run(step);
    else await this.#go(step.kind, step.on);
    this.#checkStore();
    this.#checkLog();
  }

  #pick(on: 'same' | 'other'): Known | undefined {
    return on === 'same' ? this.#sessions.at(-1) : this.#sessions[0];
  }

  async #run({ on, calls, ending, end }: Extract<Step, { kind: 'run' }>): Promise<void> {
    const known = on === 'new' ? undefined : this.#pick(on);
    const text = `prompt-${++this.#count} calls-${calls} pace-${ending === 'whole' ? 0 : 15}`;
    const outcome = await this.#cast([...(known ? ['-s', known.id] : []), text], ending, end);
    if (ending === 'whole') expect(outcome.code, outcome.stderr).toBe(0);
    const session = known ?? this.#begun(outcome);
    if (!session) return;
    session.prompts.push({ text, isSure: ending === 'whole', cuts: new Set() });
    this.#checkRequests(session, text);
  }

  /** A process that was ended early may not have told which session it had begun. */
  #begun({ stdout }: Outcome): Known | undefined {
    const [, id] = /"sessionId":"([^"]+)"/.exec(stdout) ?? [];
    if (id === undefined) return undefined;
    const session = { id, prompts: [] };
    this.#sessions.push(session);
    return session;
  }

  async #go(kind: 'fork' | 'clear' | 'compact' | 'undo', on: 'same' | 'other'): Promise<void> {
    const known = this.#pick(on);
    if (known)
      await { fork: () => this.#fork(known), clear: () => this.#clear(known), compact: () => this.#compact(known), undo: () => this.#undo(known) }[kind]();
  }

  async #undo(known: Known): Promise<void> {
    // Of a prompt that may never have been stored nobody knows whether it is the one that goes.
    if (!known.prompts.at(-1)?.isSure) return;
    const { code, stderr } = await this.#cast(['-s', known.id, '/undo']);
    expect(code, stderr).toBe(0);
    const gone = known.prompts.pop();
    // What came after it is undone as well.
    for (const prompt of known.prompts) for (const cut of gone?.cuts ?? []) prompt.cuts.delete(cut);
  }

  async #compact(known: Known): Promise<void> {
    const { code } = await this.#cast(['-s', known.id, '/compact']);
    this.#cuts += 1;
    if (code === 0) for (const prompt of known.prompts) prompt.cuts.add(this.#cuts);
  }

  async #clear(known: Known): Promise<void> {
    const { code, stderr } = await this.#cast(['-s', known.id, '/clear']);
    // A session that its process could not even begin to store is not there.
    if (code === 0) known.prompts = [];
    else expect([code, known.prompts.some(({ isSure }) => isSure)], stderr).toEqual([3, false]);
  }

  async #fork(known: Known): Promise<void> {
    const text = `prompt-${++this.#count} calls-0 pace-0`;
    const outcome = await this.#cast(['--fork', '-s', known.id, text]);
    const fork = outcome.code === 0 ? this.#begun(outcome) : undefined;
    if (!fork) return;
    expect(fork.id).not.toBe(known.id);
    fork.prompts = [...known.prompts.map((prompt) => ({ ...prompt, cuts: new Set(prompt.cuts) })), { text, isSure: true, cuts: new Set<number>() }];
    this.#checkRequests(fork, text);
  }

  async #cast(args: readonly string[], ending: Ending = 'whole', end: Moment = { behind: 'start', ms: 0 }): Promise<Outcome> {
    const options = { program: bundle.file, place: this.#place, ...(this.#provider ? { provider: this.#provider } : {}) };
    const run = start(['run', '--format', 'stream-json', ...args], options);
    const stop = async (): Promise<void> => {
      if (end.behind !== 'start') await run.until(`"type":"${end.behind}"`);
      await setTimeout(end.ms);
      run.child.kill(ending === 'killed' ? 'SIGKILL' : 'SIGINT');
    };
    // Where that moment never comes it is left to end.
    if (ending !== 'whole') void stop().catch(() => undefined);
    const outcome = await run.done;
    // Whole lines are JSON, whatever became of the process.
    linesOf({ ...outcome, stdout: outcome.stdout.slice(0, outcome.stdout.lastIndexOf('\n') + 1) });
    return outcome;
  }

  /** Of the prompt that was just given: what they hold beside it is what is known of its session. */
  #checkRequests(session: Known, text: string): void {
    const requests = (this.#provider?.requests ?? []).filter((request) => promptsIn(request).at(-1) === text);
    for (const request of requests) {
      expect(refusal(request.body.messages as readonly SentMessage[])).toBeUndefined();
      const sent = promptsIn(request);
      session.prompts = kept(session.prompts, (prompt) => prompt.text === text || sent.includes(prompt.text));
      for (const prompt of session.prompts) prompt.isSure ||= sent.includes(prompt.text);
      expect(sent).toEqual(session.prompts.map((prompt) => prompt.text));
    }
  }

  /** Whatever was there is there, unchanged; heads and parents are there; what is said to be in context are the prompts that are. */
  #checkStore(): void {
    const file = join(this.#place.castHome, 'sessions', 'sessions.db');
    if (!existsSync(file)) return;
    const db = new Sqlite(file, { readonly: true });
    try {
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      const entries = db.prepare('SELECT session_id, id, parent_id, seq, kind, data_json FROM entries ORDER BY session_id, seq').all() as Row[];
      const now = new Map(entries.map((row) => [`${row.session_id} ${row.id}`, JSON.stringify(row)]));
      for (const [key, row] of this.#rows) expect(now.get(key)).toBe(row);
      for (const [key, row] of now) this.#rows.set(key, row);
      for (const row of entries) if (row.parent_id !== null) expect(now.has(`${row.session_id} ${row.parent_id}`)).toBe(true);
      const sessions = db.prepare('SELECT id, head, last_seq FROM sessions').all() as { id: string; head: string | null; last_seq: number }[];
      for (const { id, head, last_seq: last } of sessions) {
        expect(head === null || now.has(`${id} ${head}`)).toBe(true);
        expect(last).toBe(Math.max(0, ...entries.filter((row) => row.session_id === id).map(({ seq }) => seq)));
      }
      for (const { id, prompts } of this.#sessions) {
        const rows = db.prepare("SELECT content_json FROM messages WHERE session_id = ? AND in_context = 1 AND role = 'user' ORDER BY seq").all(id);
        const stored = (rows as { content_json: string }[]).flatMap((row) => /prompt-\d+ calls-\d+ pace-\d+/.exec(row.content_json)?.[0] ?? []);
        const possible = prompts.map(({ text }) => text);
        expect(possible.filter((text) => stored.includes(text))).toEqual(stored);
        const sure = kept(prompts, ({ text }) => stored.includes(text)).filter(({ isSure }) => isSure);
        expect(stored).toEqual(expect.arrayContaining(sure.map(({ text }) => text)));
      }
    } finally {
      db.close();
    }
  }

  #checkLog(): void {
    const log = join(this.#place.cwd, 'log');
    const lines = existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
    expect(new Set(lines).size, 'something ran twice').toBe(lines.length);
  }
}
interface Row {
  readonly session_id: string;
  readonly id: string;
  readonly parent_id: string | null;
  readonly seq: number;
}

/** Without those that turned out never to have been stored, and those that a compaction took: all of them up to one. */
const kept = (prompts: readonly Prompt[], isThere: (prompt: Prompt) => boolean): Prompt[] => {
  const gone = prompts.findIndex((prompt) => isThere(prompt) || (prompt.isSure && prompt.cuts.size === 0));
  return prompts.slice(gone < 0 ? prompts.length : gone).filter((prompt) => prompt.isSure || isThere(prompt));
};

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
const promptsIn = ({ body }: Received): readonly string[] =>
  body.messages.filter(({ role }) => role === 'user').flatMap(({ content }) => /prompt-\d+ calls-\d+ pace-\d+/.exec(textOf(content))?.[0] ?? []);

/** As many calls as the newest prompt asks for, then an answer. */
const replyTo = ({ body }: Received): Reply => {
  if (!body.tools?.length) return say('## Goal\nThe prompts so far.');
  const at = body.messages.findLastIndex(({ role, content }) => role === 'user' && /prompt-\d+/.test(textOf(content)));
  const [, number = '', calls = '0', pace = '0'] = /prompt-(\d+) calls-(\d+) pace-(\d+)/.exec(textOf(body.messages[at]?.content)) ?? [];
  const made = body.messages.slice(at).filter(({ role }) => role === 'tool').length;
  const how = { pauseMs: Number(pace), piece: 4 };
  if (made >= Number(calls)) return say(`The answer to prompt ${number}.`, how);
  return call('bash', { command: `echo ${number}-${made} >> log; sleep ${pace === '0' ? 0 : 0.2}` }, { text: `Step ${made}.`, ...how });
};

test(`${WALKS} random walks of ${STEPS} processes`, { timeout: 60_000 + WALKS * STEPS * 10_000 }, async () => {
  const walks = fc.sample(fc.array(step, { minLength: STEPS, maxLength: STEPS }), { seed: SEED, numRuns: WALKS });
  for (const [index, steps] of walks.entries()) {
    const walk = new Walk();
    await walk.begin();
    try {
      for (const [at, each] of steps.entries()) {
        await walk.take(each).catch((error: unknown) => {
          throw new Error(`walk ${index + 1}, step ${at + 1} (CAST_WALK_SEED=${SEED}): ${JSON.stringify(each)}`, { cause: error });
        });
      }
    } finally {
      await walk.end();
    }
  }
});
