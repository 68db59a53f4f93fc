/** A conversation: one history, one stream of events, one generation of plugins at a time, at most one running turn. */
import type { SessionStatus } from '../contracts/client.ts';
import type { CastConfig } from '../contracts/config.ts';
import type { SessionRecord, Store } from '../contracts/store.ts';
import type { Entry, Input, NewEntry, Provider } from '../data.ts';
import { CastError, messageOf } from '../errors.ts';
import type { EventMap, EventType } from '../events.ts';
import type { FaultObserver, TapRecord } from '../hooks/guard.ts';
import { quarantined } from '../hooks/guard.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import type { SessionFace, TurnContext, TurnEnd, ViewMessage } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Clock, Ids } from '../plugin.ts';
import { Broker } from './ask.ts';
import { EventStream } from './event-stream.ts';
import { capText, type Exits } from './exits.ts';
import { createFace } from './face.ts';
import type { Generation } from './generation.ts';
import { History } from './history.ts';
import { InputQueue } from './queue.ts';
import { Tally } from './tally.ts';

export type RunTurn = (session: Session, input: Input, signal: AbortSignal) => Promise<TurnEnd>;

export interface SessionOptions {
  readonly record: SessionRecord;
  readonly store: Store;
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly exits: Exits;
  readonly runTurn: RunTurn;
  /** A generation from the configuration as it is now; `loadLate` adds a plugin to a living one. */
  readonly build: (session: Session) => Promise<Generation>;
  readonly activate: (session: Session, generation: Generation) => Promise<void>;
  /** For the watchdog. */
  readonly entered?: (tap: TapRecord) => void;
  readonly left?: () => void;
}

/** By which a stored model is known to belong to the active provider. */
export const providerId = (config: CastConfig): string =>
  config.provider === undefined ? '' : (config.providers?.[config.provider]?.baseUrl ?? config.provider);

/** Why a turn was told to stop. Thrown by everything that waits on its signal. */
export class Aborted extends Error {
  override readonly name = 'AbortError';
}

export class Session {
  readonly id: string;
  readonly root: string;
  readonly parent: string | undefined;
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  readonly events: EventStream;
  readonly history: History;
  readonly queue: InputQueue;
  readonly broker: Broker;
  readonly face: SessionFace;
  readonly tally = new Tally();
  cwd: string;
  title: string;
  turn = 0;
  #generation: Generation | undefined;
  #running: AbortController | undefined;
  #isWaiting = false;
  #isClosed = false;
  #isRenewDue = false;
  #move: string | undefined;
  #submitted = new Set<string>();
  #stored: Promise<unknown> = Promise.resolve();
  #driving: Promise<void> = Promise.resolve();
  readonly #at: SessionOptions;

  constructor(options: SessionOptions) {
    const { record, store, clock, ids } = options;
    this.#at = options;
    this.id = record.id;
    this.root = record.root;
    this.parent = record.parent ?? undefined;
    this.cwd = record.cwd;
    this.title = record.title;
    this.interactive = options.interactive;
    this.clock = clock;
    this.ids = ids;
    this.store = store;
    this.events = new EventStream(record.id, clock);
    this.history = new History({
      session: record.id,
      store,
      clock,
      ids,
      seal: (entry) => this.#seal(entry),
      onStored: (entries) => this.#onStored(entries),
      onBranch: (entries) => this.#onBranch(entries),
    });
    this.queue = new InputQueue(ids, (items) => this.emit('queue.changed', { items }));
    this.broker = new Broker({
      interactive: options.interactive,
      ids,
      hooks: () => this.hooks,
      emit: (type, data) => this.emit(type, data),
      onWaiting: (isWaiting) => {
        this.#isWaiting = isWaiting;
      },
    });
    this.face = createFace(this);
  }

  // ---- what the session is made of ----

  get generation(): Generation {
    if (!this.#generation) throw new CastError('INTERNAL', 'the session has no generation yet');
    return this.#generation;
  }
  get hooks(): HookSet {
    return this.generation.hooks;
  }
  get status(): SessionStatus {
    if (this.#isClosed) return 'closed';
    if (!this.#running) return 'idle';
    return this.#isWaiting ? 'waiting' : 'running';
  }
  /** Flags and environment first; then what the session was using, if its provider is still the active one; then the settings. */
  get model(): string {
    const { config } = this.generation;
    const layer = config.origin('model')?.layer;
    const isAsked = layer === 'flags' || layer === 'environment';
    const { model, provider } = this.#at.record;
    return !isAsked && model !== '' && provider === providerId(config.value) ? model : (config.value.model ?? '');
  }
  get limits(): { readonly steps: number; readonly contextWindow: number; readonly maxOutputTokens: number } {
    const limits = this.generation.config.value.limits;
    return {
      steps: limits?.maxSteps ?? LIMITS.steps,
      contextWindow: limits?.contextWindow ?? LIMITS.contextWindow,
      maxOutputTokens: limits?.maxOutputTokens ?? LIMITS.maxOutputTokens,
    };
  }
  provider(): Provider {
    const { provider: name } = this.generation.config.value;
    const known = this.generation.providers.all();
    const provider = name === undefined ? known[0]?.item : this.generation.providers.get(name);
    if (!provider) {
      const names = known.map(({ item }) => item.name).join(', ');
      throw new CastError(
        'CONFIG_NO_MODEL',
        name === undefined ? 'no provider is configured' : `there is no provider ${name}${names === '' ? '' : `; known: ${names}`}`,
        { fix: 'Set CAST_BASE_URL, CAST_API_KEY and CAST_MODEL, or write `provider`, `providers` and `model` into settings.json.' },
      );
    }
    return provider;
  }
  view(): readonly ViewMessage[] {
    return this.history.view();
  }
  emit<K extends EventType>(type: K, data: EventMap[K]): void {
    this.events.emit(type, this.#at.exits.redact(data));
  }
  append(batch: readonly NewEntry[]): Promise<readonly Entry[]> {
    return this.history.append(batch);
  }

  // ---- life ----

  async open(resumed: boolean): Promise<void> {
    await this.history.load();
    this.#restore(this.history.entries);
    this.#generation = await this.#at.build(this);
    await this.#ready(resumed);
    await this.#noteModel();
    this.emit('session.opened', {
      cwd: this.cwd,
      root: this.root,
      model: this.model,
      tools: this.generation.tools.all().map(({ item }) => item.name),
      resumed,
    });
  }
  /** The record follows what is really used, so that a resume from anywhere finds it. */
  async #noteModel(): Promise<void> {
    const { record } = this.#at;
    const provider = providerId(this.generation.config.value);
    if (record.model !== '' && record.model !== this.model)
      this.notice(`This session was using ${record.model}; it goes on with ${this.model}.`, 'MODEL_CHANGED');
    if (record.model !== this.model || record.provider !== provider) await this.store.update(this.id, { model: this.model, provider });
  }
  async close(reason: string): Promise<void> {
    if (this.#isClosed) return;
    this.abort(new Aborted(reason));
    await this.#driving;
    this.#isClosed = true;
    await this.hooks
      .series('close', { reason }, { session: this.face, signal: AbortSignal.timeout(LIMITS.afterTurnMs) })
      .catch((error: unknown) => this.warn(messageOf(error)));
    await this.settled();
    await this.generation.dispose((plugin, error) => this.warn(`${plugin}: ${messageOf(error)}`));
    this.emit('session.closed', { reason });
    this.events.close();
  }
  /** New hooks and registries; kept out when they cannot be built. At once when idle, else at the turn boundary. */
  async renew(): Promise<void> {
    this.#isRenewDue = true;
    if (!this.#running) await this.boundary();
  }
  /** Between turns, and before the first: whatever waited for it. */
  async boundary(): Promise<void> {
    if (!this.#isRenewDue) return;
    this.#isRenewDue = false;
    const old = this.generation;
    try {
      this.#generation = await this.#at.build(this);
    } catch (error) {
      this.warn(`The new configuration is not used: ${messageOf(error)}`, 'RENEW_FAILED');
      return;
    }
    await this.#ready(true);
    await old.dispose((plugin, error) => this.warn(`${plugin}: ${messageOf(error)}`));
  }
  async #ready(resumed: boolean): Promise<void> {
    await this.generation.slices.refold(this.history.entries);
    await this.hooks
      .series('open', { resumed }, { session: this.face, signal: AbortSignal.timeout(LIMITS.afterTurnMs * 5) })
      .catch((error: unknown) => this.warn(messageOf(error)));
  }
  /** Plugins whose trigger has come join at their computed place. */
  activateLate(): Promise<void> {
    return this.#at.activate(this, this.generation);
  }
  notice(text: string, code?: string): void {
    this.emit('notice', { text, ...(code === undefined ? {} : { code }) });
  }
  warn(text: string, code?: string): void {
    this.emit('warning', { text, ...(code === undefined ? {} : { code }) });
  }

  // ---- turns ----

  get isRunning(): boolean {
    return this.#running !== undefined;
  }
  /** Whether this is a repeated submission. */
  isRepeated(clientId: string | undefined): boolean {
    if (clientId === undefined) return false;
    if (this.#submitted.has(clientId)) return true;
    this.#submitted.add(clientId);
    return false;
  }
  /** Runs one turn to its end. */
  async run(input: Input): Promise<TurnEnd> {
    if (this.#isClosed) throw new CastError('SESSION_CLOSED', 'this session has been closed');
    if (this.#running) throw new CastError('SESSION_BUSY', 'a turn is running in this session');
    const controller = new AbortController();
    this.#running = controller;
    try {
      return await this.#at.runTurn(this, input, controller.signal);
    } finally {
      this.queue.keepSteered();
      this.#running = undefined;
      this.events.place = {};
    }
  }
  /** Runs a turn, then what was queued meanwhile, as long as turns end by an answer. Never rejects. */
  drive(first: Input): void {
    this.#driving = (async () => {
      for (let next: Input | undefined = first; next; ) {
        const end: TurnEnd = await this.run(next);
        next = end.reason === 'answered' ? this.queue.take() : undefined;
      }
    })().catch((error: unknown) => this.warn(messageOf(error)));
  }
  /** The first reason wins. */
  abort(reason: Error = new Aborted('aborted by the user')): void {
    this.#running?.abort(reason);
  }

  // ---- workspace ----

  moveTo(cwd: string): void {
    this.#move = cwd;
  }
  /** After the results of a batch are stored: its calls keep the directory they began in. */
  async applyMove(signal: AbortSignal): Promise<void> {
    if (this.#move === undefined || this.#move === this.cwd) return;
    const move = { from: this.cwd, to: this.#move };
    this.#move = undefined;
    this.cwd = move.to;
    await this.append([{ kind: 'workspace', data: { cwd: move.to } }]);
    this.emit('workspace.moved', move);
    await this.hooks.series('moved', move, { session: this.face, signal });
  }

  // ---- entries ----

  /** Resolves when every `stored` tap has run. */
  async settled(): Promise<void> {
    await this.#stored;
  }
  #seal(entry: NewEntry): NewEntry {
    const sealed = this.#at.exits.redact(entry);
    if (sealed.kind !== 'message' || sealed.data.role !== 'tool') return sealed;
    return {
      kind: 'message',
      data: {
        ...sealed.data,
        blocks: sealed.data.blocks.map((block) => (block.type === 'result' ? { ...block, content: capText(block.content, LIMITS.resultBytes) } : block)),
      },
    };
  }
  async #onStored(entries: readonly Entry[]): Promise<void> {
    await this.generation.slices.forward(entries);
    if (this.hooks.inOrder('stored').length === 0) return;
    const at = { session: this.face, signal: new AbortController().signal };
    this.#stored = this.#stored.then(() => this.hooks.series('stored', entries, at)).catch((error: unknown) => this.warn(messageOf(error)));
  }
  async #onBranch(entries: readonly Entry[]): Promise<void> {
    this.#restore(entries);
    await this.#generation?.slices.refold(entries);
  }
  #restore(entries: readonly Entry[]): void {
    this.turn = entries.reduce((turn, entry) => (entry.kind === 'turn' ? Math.max(turn, entry.data.turn) : turn), 0);
    const moved = entries.findLast((entry) => entry.kind === 'workspace');
    if (moved?.kind === 'workspace') this.cwd = moved.data.cwd;
  }

  // ---- faults ----

  get observer(): FaultObserver {
    return {
      fault: (tap, message) => {
        const isQuarantined = tap.state === 'quarantined';
        const report = this.#generation?.plugins.get(tap.plugin);
        if (isQuarantined && report)
          this.#generation?.plugins.set(tap.plugin, {
            ...report,
            state: 'quarantined',
            why: `${tap.label} failed ${tap.faults} times in ${tap.hook}: ${message}`,
          });
        this.emit('tap.fault', { plugin: tap.plugin, hook: tap.hook, label: tap.label, message, quarantined: isQuarantined });
      },
      closedGuard: (tap, signal) => this.#decideAbout(tap, signal),
      ...(this.#at.entered ? { entered: this.#at.entered } : {}),
      ...(this.#at.left ? { left: this.#at.left } : {}),
    };
  }
  async #decideAbout(tap: TapRecord, signal: AbortSignal | undefined): Promise<'open' | 'off'> {
    // The `ask` hook cannot be asked about one of its own taps.
    if (!this.interactive || tap.hook === 'ask') throw quarantined(tap);
    const turn: TurnContext = { session: this.face, turn: this.turn, signal: signal ?? new AbortController().signal };
    const answer = await this.broker.ask(
      {
        kind: 'quarantine',
        text: `${quarantined(tap).message}. What it guards is refused until you decide.`,
        choices: [
          { value: 'retry', label: 'Try it again' },
          { value: 'off', label: 'Switch it off for this session' },
          { value: 'stop', label: 'Stop the turn' },
        ],
      },
      turn,
    );
    if (answer.choice === 'off') return 'off';
    if (answer.choice !== 'retry') throw quarantined(tap);
    tap.faults = 0;
    return 'open';
  }
}
