/** A kernel: plugins of the process, and the sessions that run on them. */
import type { CastConfig } from '../contracts/config.ts';
import type { Kernel, KernelOptions, OpenOptions, OpenSession, Settings } from '../contracts/kernel.ts';
import type { Report } from '../contracts/report.ts';
import type { SessionRecord, Store } from '../contracts/store.ts';
import { CastError, messageOf } from '../errors.ts';
import { API_VERSION, type Clock, type Ids, type Log } from '../plugin.ts';
import { createClient } from '../session/client.ts';
import { createExits } from '../session/exits.ts';
import type { Opener } from '../session/opener.ts';
import { findSession } from '../session/resume.ts';
import { providerId } from '../session/models.ts';
import { Session } from '../session/session.ts';
import { runTurn } from '../turn/turn.ts';
import { Builder } from './builder.ts';
import { createIds, silentLog, systemClock } from './clock.ts';
import { mergeLayers } from './config.ts';
import { createCredentials } from './credentials.ts';
import { guardExit } from './exit-guard.ts';
import { PluginHost } from './plugins.ts';
import { peekBlocked, takeBlocked, type BlockedRecord } from './blocked.ts';
import { reportOn } from './report.ts';
import { SavedSecrets } from './secrets.ts';
import { saveCounts, withCounts } from './tap-counts.ts';
import type { Watchdog } from './watchdog.ts';

export const createKernel = (options: KernelOptions): Kernel => new KernelProcess(options);

class KernelProcess implements Kernel {
  readonly apiVersion = API_VERSION;
  readonly #plugins: PluginHost;
  /** Each open session, by how it is closed. */
  readonly #open = new Set<OpenSession>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #at: KernelOptions;
  readonly #secrets: SavedSecrets;
  #watchdog: Watchdog | undefined;
  /** Null until the first session is opened. */
  #blocked: { readonly record: BlockedRecord | undefined } | null = null;

  constructor(options: KernelOptions) {
    this.#at = options;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? createIds(this.#clock);
    this.#log = options.log ?? silentLog;
    this.#secrets = new SavedSecrets(options.home);
    this.#plugins = new PluginHost({ home: options.home, clock: this.#clock, ids: this.#ids, log: this.#log, secrets: this.#secrets });
    guardExit();
  }

  async open(open: OpenOptions): Promise<OpenSession> {
    this.#preload(open);
    const store = open.ephemeral ? await this.#memory() : await this.store(open);
    const { record, resumed } = await this.#record(store, open);
    // Taken by the first session and kept for all of this process: that plugin is off until the next start.
    this.#blocked ??= { record: takeBlocked(this.#at.home) };
    const { session, builder } = await this.#session(store, record, open);
    await session.open(resumed);
    const client = createClient(session, {
      report: () => reportOn(session.generation, session.id),
      wake: async (command) => {
        builder.commands.add(command);
        await session.activateLate();
      },
      waiting: () => this.#waitingCommands(session),
    });
    const close = async (reason: string): Promise<void> => {
      if (!this.#open.delete(opened)) return;
      await session.close(reason);
      if (!open.ephemeral && session.turn > 0) await saveCounts(this.#at.home, session.root, reportOn(session.generation, session.id), this.#clock.now());
    };
    const opened = { id: session.id, resumed, client, close };
    this.#open.add(opened);
    return opened;
  }

  async inspect(open: OpenOptions): Promise<Report> {
    const store = await this.#memory();
    const record = this.#newRecord(open);
    await store.create(record);
    const { session, builder } = await this.#session(store, { ...record, head: null, messages: 0, updatedAt: record.createdAt, pinned: false }, open);
    const generation = await builder.build(session);
    const report = await withCounts(this.#at.home, open.root, reportOn(generation, null));
    await generation.dispose((plugin, error) => this.#log.warn(`${plugin}: ${messageOf(error)}`));
    return report;
  }

  /** Built-ins with the trigger `start` bring stores; the first one counts. */
  async store(settings?: Settings): Promise<Store> {
    if (this.#plugins.stores.length === 0) {
      const off = settings ? mergeLayers(settings.layers).value.plugins : undefined;
      for (const ref of this.#at.builtins)
        if (ref.manifest.activation.includes('start') && (ref.manifest.locked || off?.[ref.manifest.name] !== false)) await this.#plugins.load(ref);
    }
    const store = this.#plugins.stores[0];
    if (!store) throw new CastError('STORE_UNAVAILABLE', 'no plugin brings a store for sessions', { fix: 'Switch sessions-sqlite on, or use --no-session.' });
    return store;
  }

  async #memory(): Promise<Store> {
    return (await import('../session/memory-store.ts')).createMemoryStore(this.#clock);
  }

  async shutdown(reason: string): Promise<void> {
    for (const session of this.#open) await session.close(reason).catch((error: unknown) => this.#log.warn(messageOf(error)));
    await this.#plugins.dispose((plugin, error) => this.#log.warn(`${plugin}: ${messageOf(error)}`));
    await this.#watchdog?.stop();
  }

  /** Starts to load what every session needs while the store is opened and read. */
  #preload(open: OpenOptions): void {
    const off = mergeLayers(open.layers).value.plugins;
    for (const ref of this.#at.builtins) {
      if (off?.[ref.manifest.name] !== false && ref.manifest.activation.includes('session')) this.#plugins.load(ref).catch(() => undefined);
    }
  }

  async #session(store: Store, record: SessionRecord, open: OpenOptions, opener?: Opener): Promise<{ session: Session; builder: Builder }> {
    const credentials = createCredentials(open.environment, this.#secrets);
    const blocked = this.#blocked ? this.#blocked.record : peekBlocked(this.#at.home);
    const above = opener && { above: () => opener.session.generation };
    const builder = new Builder({ builtins: this.#at.builtins, plugins: this.#plugins, open, credentials, blocked, ...above });
    if (this.#at.watchdog && open.plugins.length > 0) await this.#watch();
    const session = new Session({
      record,
      fallbackCwd: open.cwd,
      store,
      interactive: open.interactive,
      clock: this.#clock,
      ids: this.#ids,
      exits: createExits([credentials.values, this.#secrets.values]),
      runTurn,
      ...(opener ? { opener } : {}),
      openChild: (by, wishes) => this.#child(by, { ...open, ...builder.settings }, wishes),
      build: (each) => builder.build(each),
      activate: (each, generation) => builder.activate(each, generation),
    });
    return { session, builder };
  }

  async #child(opener: Opener, open: OpenOptions, wishes: CastConfig): Promise<Session> {
    const { store, id: parent, cwd } = opener.session;
    const as = { ...open, cwd, layers: [...open.layers, { name: 'session', data: wishes } as const] };
    const record = { ...this.#newRecord(as), parent, kind: 'child' as const };
    await store.create(record);
    try {
      const { session } = await this.#session(store, { ...record, head: null, messages: 0, updatedAt: record.createdAt, pinned: false }, as, opener);
      await session.open(false);
      return session;
    } catch (error) {
      await store.remove(record.id);
      throw error;
    }
  }

  async #watch(): Promise<void> {
    if (this.#watchdog) return;
    const { startWatchdog } = await import('./watchdog.ts');
    this.#watchdog ??= startWatchdog(this.#at.home);
  }

  async #record(store: Store, open: OpenOptions): Promise<{ record: SessionRecord; resumed: boolean }> {
    if (!open.session) {
      const record = this.#newRecord(open);
      await store.create(record);
      return { record: { ...record, head: null, messages: 0, updatedAt: record.createdAt, pinned: false }, resumed: false };
    }
    const record = await findSession(store, open.session, open.root);
    if (!open.session.fork) return { record, resumed: true };
    const { forkSession } = await import('../session/fork.ts');
    return { record: await forkSession(store, record, { clock: this.#clock, ids: this.#ids }), resumed: true };
  }

  #newRecord(open: OpenOptions): Omit<SessionRecord, 'head' | 'messages' | 'updatedAt' | 'pinned'> {
    const { value } = mergeLayers(open.layers);
    return {
      id: this.#ids.next('session'),
      cwd: open.cwd,
      root: open.root,
      title: '',
      model: value.model ?? '',
      provider: providerId(value),
      parent: null,
      kind: 'conversation',
      createdAt: this.#clock.now(),
    };
  }

  #waitingCommands(session: Session): readonly { readonly name: string; readonly summary: string }[] {
    return this.#at.builtins.flatMap(({ manifest }) => (session.generation.plugins.get(manifest.name)?.state === 'waiting' ? (manifest.commands ?? []) : []));
  }
}
