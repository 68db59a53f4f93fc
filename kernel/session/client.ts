/** The client contract over a session in this process. */
import type { Client, CommandOutcome, PageItem, Snapshot } from '../contracts/client.ts';
import type { Report } from '../contracts/report.ts';
import type { Entry, Input, Sketch } from '../data.ts';
import { CastError, isCastError, messageOf } from '../errors.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import { runAs } from '../hooks/running.ts';
import type { Command, CommandContext } from '../plugin.ts';
import { Aborted, type Session } from './session.ts';
import { isPrompt, withoutRaw } from './view.ts';

export interface ClientOptions {
  readonly report: () => Report;
  /** Loads the plugin that waits for this command. */
  readonly wake: (command: string) => Promise<void>;
  /** Commands of plugins that wait for their first use. */
  readonly waiting: () => readonly { readonly name: string; readonly summary: string }[];
}

const PAGE = 60;

export const createClient = (session: Session, options: ClientOptions): Client => {
  const inputOf = (text: string, clientId: string, more: Partial<Input> = {}): Input => ({ text, source: 'local', origin: 'user', clientId, ...more });
  return {
    snapshot: () => snapshotOf(session, options.waiting()),
    events: (since, signal) => session.events.read(since, signal),
    page: async (before, limit = PAGE) => {
      const rows = await session.store.read(session.id, { limit, kinds: ['message', 'compaction'], ...(before === undefined ? {} : { before }) });
      const inContext = session.history.inContext();
      const oldest = rows.at(-1);
      return { items: rows.toReversed().flatMap((entry) => itemsOf(entry, inContext)), before: rows.length < limit || !oldest ? null : oldest.seq };
    },
    submit: async ({ text, clientId, source, images }) =>
      session.turns.submit(inputOf(text, clientId, { ...(source ? { source } : {}), ...(images ? { images } : {}) })),
    steer: async (text, clientId) => session.turns.steer(inputOf(text, clientId)),
    queue: async (text, clientId) => session.turns.submit(inputOf(text, clientId)),
    editQueued: async (id, text) => session.queue.edit(id, text),
    removeQueued: async (id) => session.queue.remove(id),
    abort: async (reason) => session.abort(new Aborted(reason ?? 'aborted by the user')),
    answer: async (question, answer) => session.broker.answer(question, answer),
    command: (name, args) => command(session, options, name, args),
    rewind: (to) => rewind(session, to),
    report: async () => options.report(),
  };
};

const snapshotOf = async (session: Session, waiting: readonly { readonly name: string; readonly summary: string }[]): Promise<Snapshot> => {
  const { generation } = session;
  const record = await session.store.get(session.id);
  const own = generation.commands.all().map(({ item }) => ({
    name: item.name,
    summary: item.summary,
    whileRunning: mayRunBeside(item, ''),
    ...(item.surfaces === undefined ? {} : { surfaces: item.surfaces }),
    ...(item.args === undefined ? {} : { args: item.args }),
  }));
  return {
    session: session.id,
    cwd: session.cwd,
    root: session.root,
    title: record?.title ?? '',
    model: session.model,
    provider: session.activeProvider()?.name ?? null,
    window: session.limits.contextWindow,
    status: session.status,
    turn: session.turn,
    seq: session.events.seq,
    usage: session.tally.usage,
    queue: session.queue.items,
    questions: session.broker.questions,
    tools: generation.tools.all().map(({ item }) => item.name),
    commands: [...own, ...waiting.map((each) => ({ ...each, whileRunning: false }))],
    panels: generation.panels.all().flatMap(({ item, from }) => {
      const sketch = asPlugin<Sketch | undefined>(
        { plugin: from, where: 'panel', label: item.name },
        () => item.draw(),
        (message) => {
          session.pluginFault(from, 'panel', item.name, message);
          return undefined;
        },
      );
      return sketch ? [{ name: item.name, place: item.place, sketch }] : [];
    }),
  };
};

const itemsOf = (entry: Entry, contextual: ReadonlySet<string>): readonly PageItem[] => {
  const place = { entry: entry.id, seq: entry.seq, at: entry.at };
  if (entry.kind === 'compaction') return [{ kind: 'compaction', ...place, summary: entry.data.summary }];
  if (entry.kind !== 'message') return [];
  const inContext = contextual.has(entry.id);
  if (entry.data.role !== 'tool') return [{ kind: 'message', ...place, message: withoutRaw(entry.data), inContext }];
  return entry.data.blocks.flatMap((block): PageItem[] =>
    block.type === 'result'
      ? [
          {
            kind: 'result',
            ...place,
            call: block.id,
            tool: block.tool,
            status: block.status,
            content: block.content,
            inContext,
            ...(block.error ? { error: block.error } : {}),
            ...(block.view ? { view: block.view } : {}),
          },
        ]
      : [],
  );
};

const mayRunBeside = ({ whileRunning = false }: Command, args: string): boolean => (typeof whileRunning === 'function' ? whileRunning(args) : whileRunning);

/** What a command says goes to surfaces, logs and terminals: as an event would, without secrets. */
const command = async (session: Session, options: ClientOptions, name: string, args: string): Promise<CommandOutcome> => {
  const controller = new AbortController();
  session.commands.add(controller);
  try {
    if (!session.generation.commands.get(name)) await options.wake(name);
    const owned = session.generation.commands.all().find(({ item }) => item.name === name);
    if (!owned) return { ok: false, code: 'CLI_USAGE', message: `there is no command /${name}` };
    if (session.isRunning && !mayRunBeside(owned.item, args))
      return { ok: false, code: 'SESSION_BUSY', message: `/${name} has to wait until the running turn is over` };
    const going: { to?: string | null } = {};
    const at = contextOf(session, controller.signal, (to) => {
      going.to = to;
    });
    const result = await runAs({ plugin: owned.from, where: 'command', label: name }, () => owned.item.run(args, at));
    return session.exits.redact({ ok: true, ...(result === undefined ? {} : { result }), ...(going.to === undefined ? {} : { session: going.to }) });
  } catch (error) {
    const { code, fix } = isCastError(error) ? error : { code: 'INTERNAL', fix: undefined };
    return session.exits.redact({ ok: false, code, message: messageOf(error), ...(fix === undefined ? {} : { suggestedFix: fix }) });
  } finally {
    session.commands.delete(controller);
  }
};

const contextOf = (session: Session, signal: AbortSignal, goTo: CommandContext['goTo']): CommandContext => ({
  session: session.face,
  turn: session.turn,
  signal,
  ask: async ({ text, choices }) => {
    const answer = await session.broker.ask({ kind: 'command', text, choices }, { session: session.face, turn: session.turn, signal });
    return answer.by === 'nobody' ? undefined : answer.choice;
  },
  rewind: (to) => rewind(session, to),
  fork: async () => {
    const [{ forkSession }, record] = await Promise.all([import('./fork.ts'), session.store.get(session.id)]);
    if (!record) throw new CastError('SESSION_UNKNOWN', `session ${session.id} is not stored`);
    return (await forkSession(session.store, record, session)).id;
  },
  goTo,
  submit: (text) => void session.turns.submit({ text, source: 'plugin', origin: 'user' }),
  renew: () => session.renew(),
});

/** To before the prompt of a turn: its entries stay stored and are found, and leave the view. */
const rewind = async (session: Session, to: { readonly turn: number } | 'start'): Promise<void> => {
  if (session.isRunning) throw new CastError('SESSION_BUSY', 'a running turn cannot be rewound', { fix: 'Abort it first.' });
  if (to === 'start') return session.history.moveHead(null);
  const { turn } = to;
  let hasPrompt = false;
  const start = await session.history.find((entry) => {
    hasPrompt ||= isPrompt(entry);
    return entry.kind === 'turn' && entry.data.phase === 'start' && entry.data.turn === turn;
  });
  if (!start || !hasPrompt) throw new CastError('HISTORY_BAD_MOVE', `there is no turn ${turn} on this branch`, { fix: 'Name a turn that is shown.' });
  await session.history.moveHead(start.parent);
};
