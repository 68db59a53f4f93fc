/** A conversation: one history, one stream of events, one generation of plugins at a time, at most one running turn. */
import type { SessionStatus } from '../contracts/client.ts';
import type { SessionRecord, Store } from '../contracts/store.ts';
import type { Delta, Entry, Input, ModelRequest, NewEntry, Provider, Purpose } from '../data.ts';
import { CastError, messageOf } from '../errors.ts';
import type { EventMap, EventType } from '../events.ts';
import type { FaultObserver } from '../hooks/guard.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { runAsKernel, running } from '../hooks/running.ts';
import type { SessionFace, TurnEnd, ViewMessage } from '../hooks/subjects.ts';
import { LIMITS } from '../limits.ts';
import type { Clock, Ids } from '../plugin.ts';
import { Broker } from './ask.ts';
import { EventStream } from './event-stream.ts';
import { capText, type Exits } from './exits.ts';
import { createFace } from './face.ts';
import { foldedIn } from './branch.ts';
import { Faults } from './faults.ts';
import type { Generation } from './generation.ts';
import { History } from './history.ts';
import { activeProvider, limitsOf, providerId, providerNamed, routeOf, type Route, type SessionLimits } from './models.ts';
import { relayTo, type OpenChild, type Opener } from './opener.ts';
import { InputQueue } from './queue.ts';
import { addUsage, Tally } from './tally.ts';
import { tellEnd } from './turn-end.ts';
import { Turns } from './turns.ts';
import { Workspace, type Move } from './workspace.ts';

export type RunTurn = (session: Session, input: Input, signal: AbortSignal) => Promise<TurnEnd>;

export interface SessionOptions {
  readonly record: SessionRecord;
  /** Where to work when the folder of the record is gone. */
  readonly fallbackCwd: string;
  readonly store: Store;
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly exits: Exits;
  readonly runTurn: RunTurn;
  /** Of a child session. */
  readonly opener?: Opener;
  readonly openChild: OpenChild;
  /** A generation from the configuration as it is now. */
  readonly build: (session: Session) => Promise<Generation>;
  /** Plugins whose trigger has come join a living generation. */
  readonly activate: (session: Session, generation: Generation) => Promise<void>;
}

const REPLIES: ReadonlySet<EventType> = new Set(['text.delta', 'reasoning.delta', 'reply.accepted', 'reply.partial']);

/** Why a turn was told to stop. Thrown by everything that waits on its signal. */
export class Aborted extends Error {
  override readonly name = 'AbortError';
}

export class Session {
  readonly id: string;
  readonly root: string;
  readonly parent: string | undefined;
  readonly opener: Opener | undefined;
  readonly openChild: OpenChild;
  readonly interactive: boolean;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: Store;
  readonly events: EventStream;
  readonly history: History;
  readonly queue: InputQueue;
  readonly turns: Turns;
  readonly broker: Broker;
  readonly workspace: Workspace;
  readonly face: SessionFace;
  readonly tally = new Tally();
  readonly exits: Exits;
  /** Of the commands that run now: an abort is for them as well. */
  readonly commands = new Set<AbortController>();
  turn = 0;
  #generation: Generation | undefined;
  #isWaiting = false;
  #isClosed = false;
  /** Model and provider of the record, until others are chosen. */
  #used: Pick<SessionRecord, 'model' | 'provider'>;
  #isModelChosen = false;
  /** Whether the record says something else than what a turn would use. */
  #isModelNew = false;
  #isRenewDue = false;
  #renewing: Promise<void> | undefined;
  #stored: Promise<unknown> = Promise.resolve();
  readonly #background = new Set<Promise<unknown>>();
  readonly #faults: Faults;
  readonly #at: SessionOptions;

  constructor(options: SessionOptions) {
    const { record, store, clock, ids } = options;
    this.#at = options;
    this.#used = record;
    this.id = record.id;
    this.root = record.root;
    this.parent = record.parent ?? undefined;
    this.opener = options.opener;
    this.openChild = options.openChild;
    this.interactive = options.interactive;
    this.clock = clock;
    this.ids = ids;
    this.store = store;
    this.exits = options.exits;
    this.workspace = new Workspace(record.cwd);
    this.events = new EventStream(record.id, clock);
    this.history = new History({
      session: record.id,
      store,
      clock,
      ids,
      seal: (entry) => this.#seal(entry),
      onStored: (entries) => this.#onStored(entries),
      onBranch: () => this.#onBranch(),
    });
    this.queue = new InputQueue(ids, (items) => this.emit('queue.changed', { items }));
    this.turns = new Turns({
      queue: this.queue,
      run: (input, signal) => options.runTurn(this, input, signal),
      ended: (end) => tellEnd(this, end),
      warn: (text) => this.warn(text),
      isHeld: () => this.broker.isStanding,
      nextTurn: () => this.turn + 1,
      brought: (input, isRunning) => this.#generation?.boundary?.brought?.(input, isRunning, running()?.where),
    });
    this.broker = new Broker({
      interactive: options.interactive,
      ids,
      hooks: () => this.hooks,
      emit: (type, data) => this.emit(type, data),
      warn: (text) => this.warn(text),
      ...(options.opener ? { relay: relayTo(options.opener) } : {}),
      person: (question, next) => this.generation.boundary?.answer?.(question, next) ?? next(),
      onWaiting: (isWaiting) => {
        this.#isWaiting = isWaiting;
      },
    });
    this.#faults = new Faults(this);
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
  get cwd(): string {
    return this.workspace.cwd;
  }
  get observer(): FaultObserver {
    return this.#faults.observer;
  }
  get isRunning(): boolean {
    return this.turns.isBusy;
  }
  get status(): SessionStatus {
    if (this.#isClosed) return 'closed';
    if (!this.isRunning) return 'idle';
    return this.#isWaiting ? 'waiting' : 'running';
  }
  /** Flags and environment first; then what the session was using, if its provider is still the active one; then the settings. */
  get model(): string {
    const { config } = this.generation;
    const layer = config.origin('model')?.layer;
    const isAsked = layer === 'flags' || layer === 'environment';
    const { model, provider } = this.#used;
    return !isAsked && model !== '' && provider === providerId(config.value) ? model : (config.value.model ?? '');
  }
  get limits(): SessionLimits {
    return limitsOf(this.generation.config.value, this.activeProvider()?.info?.(this.model));
  }
  /** Undefined when there is none, or none of the name that is configured. */
  activeProvider(): Provider | undefined {
    return activeProvider(this.generation);
  }
  /** By name, else the active one. Throws CONFIG_NO_MODEL when it is not there. */
  provider(name?: string): Provider {
    return providerNamed(this.generation, name);
  }
  /** Which model answers a request; `asked` names one, as `model` or `provider/model`. */
  route(purpose: Purpose, asked?: string): Route {
    return routeOf(this.generation, { purpose, model: this.model, isChild: this.parent !== undefined, asked });
  }
  /** What the provider of a request says, or whoever stands in its place. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<Delta> {
    const next = (): AsyncIterable<Delta> => this.provider(request.provider).stream(request, signal);
    return this.generation.boundary?.stream?.(request, { ...this.events.place, signal }, next) ?? next();
  }
  view(): readonly ViewMessage[] {
    return this.history.view();
  }
  emit<K extends EventType>(type: K, data: EventMap[K]): void {
    // What the model says is bounded by its provider, and has to be the same in every event.
    this.events.emit(type, REPLIES.has(type) ? this.exits.redact(data) : this.exits.event(data));
  }
  append(batch: readonly NewEntry[]): Promise<readonly Entry[]> {
    this.#generation?.boundary?.appending?.(batch);
    return this.history.append(batch);
  }
  /** Counts what one request used, whoever made it. */
  used(event: EventMap['usage']): void {
    this.tally.usage = addUsage(this.tally.usage, event.usage);
    this.emit('usage', event);
  }
  notice(text: string, code?: string): void {
    this.emit('notice', { text, ...(code === undefined ? {} : { code }) });
  }
  warn(text: string, code?: string): void {
    this.emit('warning', { text, ...(code === undefined ? {} : { code }) });
  }
  /** A fault of a plugin's code that is no tap: named, and costing nothing else. */
  pluginFault(plugin: string, hook: string, label: string, message: string): void {
    this.emit('tap.fault', { plugin, hook, label, message, quarantined: false });
  }
  /** The report says that a tap of it was closed, and why. */
  closePlugin(name: string, why: string): void {
    const report = this.#generation?.plugins.get(name);
    if (report) this.#generation?.plugins.set(name, { ...report, state: 'quarantined', why });
  }

  // ---- life ----

  async open(resumed: boolean): Promise<void> {
    await this.history.load();
    this.#restore();
    const gone = resumed && this.workspace.isGone() ? this.cwd : undefined;
    if (gone !== undefined) this.workspace.makeDo(this.#at.fallbackCwd);
    this.#generation = await this.#at.build(this);
    await this.#ready(resumed);
    this.#noteModel();
    const tools = this.generation.tools.all().map(({ item }) => item.name);
    this.emit('session.opened', { cwd: this.cwd, root: this.root, model: this.model, tools, resumed });
    if (gone !== undefined) this.warn(`The folder of this session, ${gone}, is gone; it goes on in ${this.cwd}.`, 'FOLDER_GONE');
  }
  #noteModel(used = this.#used): void {
    const { model: before, provider: from } = used;
    const [model, provider] = [this.model, providerId(this.generation.config.value)];
    const isOther = before !== model;
    if (isOther && before !== '') this.notice(`This session was using ${before}; it goes on with ${model}.`, 'MODEL_CHANGED');
    this.#used = { model, provider };
    this.#isModelNew ||= isOther || from !== provider;
  }
  /** The record follows what is really used, so that a resume from anywhere finds it: who only looks at a session changes nothing. */
  async recordModel(): Promise<void> {
    if (!this.#isModelNew) return;
    this.#isModelNew = false;
    await this.store.update(this.id, this.#used);
  }
  /** Somebody chose a model or a provider: from the next generation on the configuration counts, not what the session was using. */
  takeConfiguredModel(): void {
    this.#isModelChosen = true;
  }
  async close(reason: string): Promise<void> {
    if (this.#isClosed) return;
    this.abort(new Aborted(reason));
    await this.turns.close(new Aborted(reason));
    this.#isClosed = true;
    await this.soon(this.hooks.series('close', { reason }, { session: this.face, signal: new AbortController().signal }));
    await this.soon(Promise.all([this.#stored, ...this.#background]));
    await this.generation.dispose((plugin, error) => this.warn(`${plugin}: ${messageOf(error)}`));
    this.emit('session.closed', { reason });
    this.events.close();
  }
  /** New hooks and registries; kept out when they cannot be built. At once when idle, else at the turn boundary. */
  async renew(): Promise<void> {
    this.#isRenewDue = true;
    if (!this.isRunning) await this.boundary();
  }
  /** Between turns: a renewal that is due, or still under way, comes first. */
  boundary(): Promise<void> {
    if (this.#isRenewDue && !this.#renewing) {
      this.#isRenewDue = false;
      this.#renewing = runAsKernel(() => this.#renew()).finally(() => {
        this.#renewing = undefined;
      });
    }
    return this.#renewing ?? Promise.resolve();
  }
  async #renew(): Promise<void> {
    const old = this.generation;
    try {
      this.#generation = await this.#at.build(this);
    } catch (error) {
      this.warn(`The new configuration is not used: ${messageOf(error)}`, 'RENEW_FAILED');
      return;
    }
    if (this.#isModelChosen) {
      const before = this.#used;
      this.#isModelChosen = false;
      this.#used = { model: '', provider: '' };
      this.#noteModel(before);
      await this.recordModel().catch((error: unknown) => this.warn(messageOf(error)));
    }
    await this.#ready(true);
    void this.#inBackground(old.dispose((plugin, error) => this.warn(`${plugin}: ${messageOf(error)}`)));
  }
  async #ready(resumed: boolean): Promise<void> {
    for (const tap of this.hooks.taps) if (tap.state === 'quarantined') this.closePlugin(tap.plugin, `${tap.label} was closed in ${tap.hook}`);
    await this.generation.slices.refold(this.history);
    const opening = this.hooks.series('open', { resumed }, { session: this.face, signal: new AbortController().signal });
    await opening.catch((error: unknown) => this.warn(messageOf(error)));
  }
  /** Plugins whose trigger has come join at their computed place. */
  activateLate(): Promise<void> {
    return this.#at.activate(this, this.generation);
  }
  /** Told to the running turn and to every running command. */
  abort(reason: Error = new Aborted('aborted by the user')): void {
    this.turns.abort(reason);
    for (const controller of this.commands) controller.abort(reason);
  }

  // ---- workspace ----

  /** After the results of a batch are stored: its calls keep the directory they began in. */
  async applyMove(): Promise<void> {
    const move = this.workspace.take();
    if (!move) return;
    await this.append([{ kind: 'workspace', data: { cwd: move.to } }]);
    this.workspace.enter(move.to);
    await this.#moved(move);
  }
  async #moved(move: Move): Promise<void> {
    this.emit('workspace.moved', move);
    await this.#generation?.hooks.series('moved', move, { session: this.face, signal: new AbortController().signal });
  }

  // ---- entries ----

  /** Resolves when every `stored` tap has run. */
  async settled(): Promise<void> {
    await this.#stored;
  }
  /** Waits for work that may take its time, but not long; what is not done then goes on in the background. */
  async soon(work: Promise<unknown>, ms: number = LIMITS.afterTurnMs): Promise<void> {
    const watched = this.#inBackground(work);
    const timer = new AbortController();
    await Promise.race([watched, this.clock.sleep(ms, timer.signal).catch(() => undefined)]);
    timer.abort(null);
  }
  #inBackground(work: Promise<unknown>): Promise<unknown> {
    const watched = work.catch((error: unknown) => this.warn(messageOf(error))).finally(() => this.#background.delete(watched));
    this.#background.add(watched);
    return watched;
  }
  #seal(entry: NewEntry): NewEntry {
    const sealed = this.exits.redact(entry);
    if (sealed.kind !== 'message' || sealed.data.role !== 'tool') return sealed;
    const blocks = sealed.data.blocks.map((block) => (block.type === 'result' ? { ...block, content: capText(block.content, LIMITS.resultBytes) } : block));
    return { kind: 'message', data: { ...sealed.data, blocks } };
  }
  /** Never throws: the entries are durable, whatever their readers make of them. */
  async #onStored(entries: readonly Entry[]): Promise<void> {
    await this.#generation?.slices.forward(entries);
    const { hooks } = this.#generation ?? {};
    if (!hooks || hooks.inOrder('stored').length === 0) return;
    const at = { session: this.face, signal: new AbortController().signal };
    this.#stored = runAsKernel(() => this.#stored.then(() => hooks.series('stored', entries, at))).catch((error: unknown) => this.warn(messageOf(error)));
  }
  async #onBranch(): Promise<void> {
    const move = this.#restore();
    await this.#generation?.slices.refold(this.history);
    if (move) await this.#moved(move);
    this.emit('branch.changed', { head: this.history.head });
  }
  #restore(): Move | undefined {
    const { folded, since } = foldedIn(this.history.entries);
    this.turn = since.reduce((turn, entry) => (entry.kind === 'turn' ? Math.max(turn, entry.data.turn) : turn), folded?.turn ?? 0);
    return this.workspace.restore(since, folded?.cwd);
  }
  /** So that who goes on with a long session need not read all of it. */
  snapshot(): Promise<void> {
    return this.history.snapshot(() => {
      const cwd = this.workspace.entered;
      return { turn: this.turn, ...(cwd === undefined ? {} : { cwd }), ...this.generation.slices.snapshot() };
    });
  }
}
