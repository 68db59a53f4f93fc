/** The face of a plugin: what it says about itself, what it is handed, and what it may bring. */
import type { Image, NewEntry, Provider, Sketch, ToolCard } from './data.ts';
import type { CastConfig, ConfigView } from './contracts/config.ts';
import type { Powers } from './contracts/powers.ts';
import type { Services } from './contracts/services.ts';
import type { Store } from './contracts/store.ts';
import type { EventMap, EventType } from './events.ts';
import type { CallHooks, HookName, Hooks, Later, Stage } from './hooks/catalogue.ts';
import type { Effect, InputOf, RunningCall, Slot, ToolResult, SessionFace, TurnContext } from './hooks/subjects.ts';
import type { In, JsonSchemaSource, Out, Schema } from './schema.ts';

/** Raised when the face changes in a way that plugins notice. */
export const API_VERSION = 1;

// ---- what a plugin says about itself: data only, read at start for every plugin ----

export type Trigger = 'start' | 'session' | `command:${string}` | `flag:${string}` | `entry:${string}` | `config:${string}` | `service:${string}`;
export type Capability = keyof Powers;

export interface Manifest {
  /** Config key, prefix of its taps, owner of its entries. Lower case, digits and hyphens. */
  readonly name: string;
  readonly version: string;
  readonly apiVersion: number;
  readonly summary: string;
  /** Plugins that must be on; their taps come first within a stage. */
  readonly requires?: readonly string[];
  /** Order only, when both are there. */
  readonly after?: readonly string[];
  readonly provides?: readonly (keyof Services)[];
  /** A trailing `?` means that it can do without. */
  readonly uses?: readonly (keyof Services | `${keyof Services}?`)[];
  readonly capabilities: readonly Capability[];
  /** When its code is loaded; without a match it waits. */
  readonly activation: readonly Trigger[];
  /** Tapping another hook is an error. Null: whatever it taps, found from use (inline plugins). */
  readonly taps: readonly HookName[] | null;
  readonly commands?: readonly { readonly name: string; readonly summary: string }[];
  readonly flags?: readonly { readonly name: string; readonly summary: string; readonly type: 'boolean' | 'string' }[];
  /** A project may neither turn it off nor change its options. */
  readonly locked?: boolean;
  /** What becomes of it in a child session. */
  readonly inChildren?: 'inherit' | 'skip';
}
export const defineManifest = <const M extends Manifest>(manifest: M): M => manifest;

/** What `definePlugin` takes. All but the body has a default. */
export interface PluginSpec<S extends Schema, P extends Capability> {
  /** Default: the key in the config; a package must give one. */
  readonly name?: string;
  readonly summary?: string;
  readonly version?: string;
  readonly apiVersion?: number;
  readonly capabilities?: readonly P[];
  readonly options?: S;
  readonly activation?: readonly Trigger[];
  readonly requires?: readonly string[];
  readonly after?: readonly string[];
  readonly provides?: readonly (keyof Services)[];
  readonly uses?: readonly (keyof Services | `${keyof Services}?`)[];
  readonly taps?: readonly HookName[] | null;
  readonly commands?: Manifest['commands'];
  readonly flags?: Manifest['flags'];
  readonly locked?: boolean;
  readonly inChildren?: 'inherit' | 'skip';
  /** Once a process, on activation: stores, pools, connections that outlive a session. */
  setup?(host: Host<P>): void | Promise<void>;
  /** Once a session generation: taps and contributions. Synchronous, so that a session opens in one piece. */
  apply?(scope: Scope<Out<S>, P>): void;
}

export interface Plugin<S extends Schema = Schema> {
  readonly kind: 'cast.plugin';
  readonly spec: PluginSpec<S, never>;
  /** Options given beside the plugin, for `cast.config.ts`. */
  readonly given?: unknown;
  with(options: In<S>): Plugin<S>;
}

/** Makes a plugin. Returns data: nothing runs until a kernel loads it. */
export const definePlugin = <S extends Schema = Schema<{}>, P extends Capability = never>(spec: PluginSpec<S, P>): Plugin<S> => {
  const make = (given: unknown): Plugin<S> => ({
    kind: 'cast.plugin',
    spec: spec as unknown as PluginSpec<S, never>,
    ...(given === undefined ? {} : { given }),
    with: (options) => make(options),
  });
  return make(undefined);
};
export const isPlugin = (value: unknown): value is Plugin =>
  typeof value === 'object' && value !== null && (value as { kind?: unknown }).kind === 'cast.plugin' && typeof (value as { spec?: unknown }).spec === 'object';

/** Options of built-in plugins; a package widens it for its own. Gives completion and checking in `cast.config.ts`. */
export interface PluginOptions {
  compaction: { auto?: boolean; threshold?: number; model?: string };
  bash: { timeoutMs?: number; foregroundMs?: number; maxLines?: number; maxBytes?: number };
  web: {
    fetch?: 'local' | 'jina';
    search?: 'ddg' | 'tavily' | 'brave';
    allow?: readonly string[];
    timeoutMs?: number;
    endpoints?: { jina?: string; ddg?: string; tavily?: string; brave?: string };
  };
  files: { mode?: 'literal' | 'hashline' };
}
/** Checks a configuration in the editor; returns it unchanged. */
export const defineConfig = (
  config: Omit<CastConfig, 'plugins'> & {
    plugins?: { readonly [K in keyof PluginOptions]?: boolean | PluginOptions[K] | Plugin } & { readonly [name: string]: boolean | string | object };
  },
): CastConfig => config as CastConfig;

// ---- what it is handed ----

export type Log = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (message: string, data?: object) => void>>;
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
export interface Ids {
  /** A short, sortable, unique id. */
  next(kind: string): string;
}
export type Dispose = () => void | Promise<void>;

/** Per process. No options: they are a project's. */
export interface Host<P extends Capability> {
  /** `$CAST_HOME`, which need not exist yet. */
  readonly home: string;
  /** Without a session: `process` and `model` throw, and `secrets` are the saved ones. Prefer `scope.powers`. */
  readonly powers: Pick<Powers, P>;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Where sessions live. One of them is chosen when the kernel starts. */
  readonly stores: { add(store: Store): void };
  /** A thing shared by all scopes that ask with the same key: make the key from config, cwd, environment and trust. */
  pool<T>(key: string, make: () => T, dispose?: (value: T) => void | Promise<void>): T;
  readonly onDispose: (run: Dispose) => void;
}

/** Per session generation. */
export interface Scope<C, P extends Capability> {
  readonly options: Readonly<C>;
  /** The whole configuration, each key with its layer and file. */
  readonly config: ConfigView;
  /** Environment of the client that opened the session, without credentials. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `$CAST_HOME`. */
  readonly home: string;
  readonly host: Host<P>;
  /** Only what `capabilities` declares is there, in the type and at run time. */
  readonly powers: Pick<Powers, P>;
  readonly session: SessionFace;
  readonly hooks: { readonly [H in keyof Hooks]: TapPort<Hooks[H]> } & { readonly [H in keyof CallHooks<string>]: CallPort<H> };
  readonly events: { on<K extends EventType>(type: K, run: (data: EventMap[K]) => void): Disposable; emit(name: string, data: unknown): void };
  readonly registries: Registries;
  readonly services: ServicePort;
  /** Folded from own entries of this branch: right after resume, fork and rewind alike. The schema makes old entries safe to read. */
  state<T, D extends Schema>(slice: {
    name: string;
    data: D;
    initial: T;
    fold(state: T, data: Out<D>): T;
    /** In a child session it is the state of the session that a person sees: read there and recorded there. */
    ofRoot?: boolean;
  }): { readonly value: T; record(data: In<D>): Promise<void> };
  /** Outlives sessions: JSON below `$CAST_HOME`, one file a plugin; `project` is keyed by the project's root. */
  readonly storage: Readonly<Record<'user' | 'project', PluginStorage>>;
  /** What matches is replaced wherever text leaves the kernel: in entries and in events, until the generation ends. */
  redact(pattern: RegExp): void;
  /** A `<system-reminder>` for the model, appended once, in force from the next request. */
  remind(text: string): Promise<void>;
  /**
   * Input that the plugin brings: into the running turn at its next step, or a turn of its own when none runs. A `notice` says that
   * something has happened and reaches the model as a `<system-reminder>`; an `answer` is what a person said. Nothing once the session is closed.
   */
  submit(text: string, as: 'notice' | 'answer'): void;
  /** Shown to the user. */
  notice(text: string, code?: string): void;
  warn(text: string, code?: string): void;
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onDispose: (run: Dispose) => void;
}
export interface PluginStorage {
  /** Undefined when there is nothing, or nothing that fits the schema. */
  get<D extends Schema>(key: string, data: D): Promise<Out<D> | undefined>;
  set(key: string, value: unknown): Promise<void>;
}
export interface ServicePort {
  provide<K extends keyof Services>(name: K, service: Services[K]): void;
  /** Throws SERVICE_MISSING. Call it when it is needed, not in `apply`: the provider may come later. */
  get<K extends keyof Services>(name: K): Services[K];
  find<K extends keyof Services>(name: K): Services[K] | undefined;
}

// ---- taps: options may be left out; `when.tool` types the input ----

export interface TapOptions {
  readonly stage?: Stage;
  /** Milliseconds, up to the hook's ceiling. The clock stops while the kernel works for the tap. */
  readonly budgetMs?: number;
  /** A fault of this tap costs only this tap. Refused in the guarding stages. */
  readonly onFault?: 'skip';
}
export interface TapPort<F extends (...args: never[]) => unknown> {
  tap(label: string, run: F): void;
  tap(label: string, options: TapOptions, run: F): void;
}
export interface CallPort<H extends keyof CallHooks<string>> {
  tap(label: string, run: CallHooks<string>[H]): void;
  tap<const T extends string = string>(
    label: string,
    options: TapOptions & { readonly when?: { readonly tool: T | readonly T[] } },
    run: CallHooks<T>[H],
  ): void;
}

// ---- registries: every item knows who brought it ----

export interface Registry<T extends { readonly name: string }> {
  /** Throws REGISTRY_CONFLICT when the name is taken. */
  add(item: T): Disposable;
  get(name: string): T | undefined;
  list(): readonly (T & { readonly from: string })[];
}
export interface Registries {
  readonly tools: Registry<Tool>;
  readonly commands: Registry<Command>;
  readonly sections: Registry<Section>;
  readonly panels: { add(panel: Panel): Disposable & { redraw(): void }; list(): readonly (Panel & { readonly from: string })[] };
  readonly providers: Registry<Provider>;
}

/** A tool as the kernel runs it; made by `defineTool`. */
export interface Tool {
  readonly name: string;
  readonly effect: Effect | 'varies';
  readonly card: ToolCard;
  readonly schema: Schema;
  /** Names that models use for it by mistake. */
  readonly aliases: readonly string[];
  readonly synonyms: readonly string[];
  readonly exclusive: boolean;
  readonly repair: boolean;
  effectOf(input: never): Effect;
  paths(input: never): readonly string[];
  resolve(input: never): Resolved | undefined;
  run(input: never, call: RunningCall): Promise<string | Partial<ToolResult>>;
}
/** A tool that stands for another: rules, hooks and events see the inner call. */
export interface Resolved {
  readonly tool: Tool;
  readonly input: unknown;
}
export interface ToolSpec<I extends Schema & JsonSchemaSource> {
  readonly name: string;
  readonly description: string;
  readonly input: I;
  /** What a call may do; a function when it depends on the input. `read` calls that stand side by side overlap. */
  readonly effect: Effect | ((input: Out<I>) => Effect);
  /** Paths that the call reads or changes; made canonical by the kernel. Writes of one path run one after another. */
  paths?(input: Out<I>): readonly string[];
  /** Names that models use for it by mistake: who calls one is told the right one. */
  readonly aliases?: readonly string[];
  /** Names by which it is called as well: such a call is a call of this tool, and its name is the tool's to everybody. */
  readonly synonyms?: readonly string[];
  /** Nothing else of the batch runs beside it. */
  readonly exclusive?: boolean;
  /**
   * Arguments that are no JSON may be mended, in ways that leave no doubt: raw control characters inside texts are escaped, what stands
   * behind the object is dropped. Default false.
   */
  readonly repair?: boolean;
  /** The call that this one stands for, before gates see it; undefined when it stands for itself. */
  resolve?(input: Out<I>): Resolved | undefined;
  /** A text is an `ok` result. A throw becomes an `error` result, so a tool need not catch; `ToolError` gives it a code. */
  run(input: Out<I>, call: RunningCall): Promise<string | Partial<ToolResult>>;
}
export const defineTool = <I extends Schema & JsonSchemaSource>(spec: ToolSpec<I>): Tool => {
  const { effect } = spec;
  return {
    name: spec.name,
    effect: typeof effect === 'function' ? 'varies' : effect,
    card: { name: spec.name, description: spec.description, input: spec.input['~standard'].jsonSchema.input({ target: 'draft-2020-12' }) },
    schema: spec.input,
    aliases: spec.aliases ?? [],
    synonyms: spec.synonyms ?? [],
    exclusive: spec.exclusive ?? false,
    repair: spec.repair ?? false,
    effectOf: (input: Out<I>) => (typeof effect === 'function' ? effect(input) : effect),
    paths: (input: Out<I>) => spec.paths?.(input) ?? [],
    resolve: (input: Out<I>) => spec.resolve?.(input),
    run: (input: Out<I>, call) => spec.run(input, call),
  };
};

export interface Command {
  /** Without the slash. */
  readonly name: string;
  readonly summary: string;
  readonly args?: string;
  /** Whether it may run beside a turn; by its arguments where only some forms just look. */
  readonly whileRunning?: boolean | ((args: string) => boolean);
  /** Default: all of them. */
  readonly surfaces?: readonly ('tui' | 'web' | 'run' | 'acp')[];
  complete?(args: string): Later<readonly string[]>;
  run(args: string, at: CommandContext): Later<string | Sketch | undefined | void>;
}
/** Commands may do what taps may not. */
export interface CommandContext extends TurnContext {
  ask(question: { readonly text: string; readonly choices: readonly { readonly value: string; readonly label: string }[] }): Promise<string | undefined>;
  /** Moves the head of the conversation to before this turn, or to where nothing had been said; entries stay and are found. */
  rewind(to: { readonly turn: number } | 'start'): Promise<void>;
  /** Makes a session that begins with what this one says to its model now. Answers its id. */
  fork(): Promise<string>;
  /** The surface that asked goes on there once the command is done: with a session by its id, or with a new one. */
  goTo(session: string | null): void;
  submit(text: string): void;
  /** A new generation at the next turn boundary: the only thing that may change the prefix. */
  renew(): Promise<void>;
}

export interface Section {
  readonly name: string;
  readonly slot: Slot;
  /** Undefined or empty: not shown. Read once a generation, when the prefix is built. */
  text(): string | undefined;
}
/** Drawn in the engine, laid out by each surface at its own width: so no width here. */
export interface Panel {
  readonly name: string;
  readonly place: 'status' | 'above-input' | 'side';
  draw(): Sketch | undefined;
}

export type { Image, InputOf, NewEntry };
