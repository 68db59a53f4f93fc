/** Builds a session's generation from the configuration as it is now, and lets late plugins join it. */
import type { OpenOptions, PluginRef, Settings } from '../contracts/kernel.ts';
import { CastError, messageOf } from '../errors.ts';
import { runAs } from '../hooks/running.ts';
import { LIMITS } from '../limits.ts';
import { Generation } from '../session/generation.ts';
import { recordersIn } from '../session/branch.ts';
import type { Session } from '../session/session.ts';
import { StateSlices } from '../session/state.ts';
import { decide, type Occasion, type Verdict } from './activation.ts';
import type { BlockedRecord } from './blocked.ts';
import { checkPluginNames, mergeLayers } from './config.ts';
import { secretsIn } from './config-secrets.ts';
import type { Credentials } from './credentials.ts';
import { readOptions, type PluginHost } from './plugins.ts';
import { createScope, reportOf } from './scope.ts';

export interface BuilderOptions {
  readonly builtins: readonly PluginRef[];
  readonly plugins: PluginHost;
  readonly open: OpenOptions;
  readonly credentials: Credentials;
  /** A plugin that blocked the last process: it stays off this time. */
  readonly blocked: BlockedRecord | undefined;
  /** Of a child session: what its parent runs with. */
  readonly above?: () => Generation;
}

export class Builder {
  readonly commands = new Set<string>();
  #settings: Settings;
  #isFirst = true;
  #activating: Promise<unknown> = Promise.resolve();
  readonly #at: BuilderOptions;

  constructor(options: BuilderOptions) {
    this.#at = options;
    this.#settings = options.open;
  }

  /** As they are in force. */
  get settings(): Settings {
    return this.#settings;
  }

  /** Throws when the configuration or a locked plugin is at fault; any other plugin that fails is refused and named once. */
  async build(session: Session): Promise<Generation> {
    if (!this.#isFirst && this.#at.open.reload) this.#settings = await this.#at.open.reload();
    this.#isFirst = false;
    const config = mergeLayers(this.#layers(session), new Set(this.#refs().flatMap(({ manifest }) => (manifest.locked ? [manifest.name] : []))));
    this.#at.credentials.protect(secretsIn(config.value));
    const { above } = this.#at;
    const slices = new StateSlices(
      (batch) => session.append(batch),
      (plugin, slice, why) => session.warn(`plugin ${plugin}: an entry of ${slice} is passed over: ${why}`),
      above && (() => above().slices),
    );
    const generation = new Generation(config, slices, session.observer);
    const names = this.#refs().map((ref) => ref.manifest.name);
    const refusals = config.refusals.map(({ key, reason }) => `${key} is not used: ${reason}`);
    for (const warning of [...checkPluginNames(this.#settings.layers, names), ...refusals]) {
      generation.warnings.push(warning);
      session.warn(warning);
    }
    try {
      await this.#fill(session, generation);
    } catch (error) {
      // What has been applied listens and holds things; nobody else knows of it.
      await generation.dispose(this.#faultIn(session));
      throw error;
    }
    return generation;
  }

  async #fill(session: Session, generation: Generation): Promise<void> {
    const verdicts = decide(this.#refs(), this.#occasion(session, generation));
    // Side by side, and applied in order below: each load waits for the disk. What fails is named when its turn comes.
    await Promise.allSettled(verdicts.map(async ({ ref, state }) => state === 'active' && this.#at.plugins.load(ref)));
    for (const verdict of verdicts) {
      if (verdict.state === 'active') await this.#add(session, generation, verdict);
      else this.#note(session, generation, verdict);
    }
  }

  /** At a step boundary: what has been triggered since joins at the place it would have had from the start. One at a time. */
  activate(session: Session, generation: Generation): Promise<void> {
    const next = this.#activating.then(() => this.#activate(session, generation));
    this.#activating = next.catch(() => undefined);
    return next;
  }

  async #activate(session: Session, generation: Generation): Promise<void> {
    const waiting = [...generation.plugins.values()].filter((plugin) => plugin.state === 'waiting').map((plugin) => plugin.name);
    if (waiting.length === 0) return;
    const due = decide(this.#refs(), this.#occasion(session, generation)).filter(({ ref, state }) => state === 'active' && waiting.includes(ref.manifest.name));
    if (due.length === 0) return;
    for (const verdict of due) await this.#add(session, generation, verdict);
    await generation.slices.refold(session.history);
    for (const { ref } of due) await this.#open(session, generation, ref.manifest.name);
  }

  /** For a plugin that came after the session was opened. */
  async #open(session: Session, generation: Generation, plugin: string): Promise<void> {
    const at = { session: session.face, signal: AbortSignal.timeout(LIMITS.openMs) };
    try {
      await generation.hooks.seriesOf(plugin, 'open', { resumed: session.history.entries.length > 0 }, at);
    } catch (error) {
      session.warn(messageOf(error));
    }
  }

  async #add(session: Session, generation: Generation, { ref, rank, why }: Verdict): Promise<void> {
    const { name, locked } = ref.manifest;
    try {
      const plugin = await this.#at.plugins.load(ref);
      const options = await readOptions(plugin, generation.config);
      const startedAt = performance.now();
      const scope = createScope(plugin, options, rank, { session, generation, credentials: this.#at.credentials, environment: this.#at.open.environment });
      runAs({ plugin: name, where: 'apply', label: 'apply' }, () => synchronous(plugin.spec.apply?.(scope), name));
      generation.plugins.set(name, reportOf(ref, 'active', why, generation, plugin.loadMs + performance.now() - startedAt));
    } catch (error) {
      await generation.withdraw(name, this.#faultIn(session));
      // Wrong options are the user's to correct, and a guard that is not there guards nothing.
      if (locked || (error instanceof CastError && error.code === 'CONFIG_INVALID')) throw error;
      generation.plugins.set(name, reportOf(ref, 'refused', messageOf(error), generation));
      session.emit('tap.fault', { plugin: name, hook: 'apply', label: 'apply', message: messageOf(error), quarantined: true });
    }
  }

  #faultIn(session: Session): (plugin: string, error: unknown) => void {
    return (plugin, error) => session.warn(`plugin ${plugin}: what it left to be disposed of failed: ${messageOf(error)}`);
  }

  #note(session: Session, generation: Generation, { ref, state, why }: Verdict): void {
    generation.plugins.set(ref.manifest.name, reportOf(ref, state, why, generation));
    if (state === 'refused') session.emit('tap.fault', { plugin: ref.manifest.name, hook: 'apply', label: 'requirements', message: why, quarantined: true });
  }

  #layers(session: Session): Settings['layers'] {
    const { blocked } = this.#at;
    if (!blocked || !this.#refs().some((ref) => mayBeKeptOff(ref, blocked))) return this.#settings.layers;
    session.warn(
      blocked.isSuspect
        ? `plugin ${blocked.plugin} is off in this session: ${blocked.where} was the last under way when the last process was blocked and had to be ended`
        : `plugin ${blocked.plugin} is off in this session: in ${blocked.where} it blocked the last process, which had to be ended`,
      'PLUGIN_BLOCKED',
    );
    return [...this.#settings.layers, { name: 'session', data: { plugins: { [blocked.plugin]: false } } }];
  }
  #refs(): readonly PluginRef[] {
    const builtins = new Set(this.#at.builtins.map((ref) => ref.manifest.name));
    const clash = this.#settings.plugins.find((ref) => builtins.has(ref.manifest.name));
    if (clash)
      throw new CastError('CONFIG_INVALID', `${clash.manifest.name} is the name of a built-in plugin (${clash.source})`, {
        fix: 'Give yours another name; to replace the built-in, switch it off and add yours under its own name.',
      });
    return [...this.#at.builtins, ...this.#settings.plugins];
  }
  #occasion(session: Session, generation: Generation): Occasion {
    return {
      config: generation.config,
      flags: this.#at.open.flags ?? {},
      recorders: recordersIn(session.history.entries),
      commands: this.commands,
      services: new Set(generation.provided()),
      above: this.#at.above && activeIn(this.#at.above()),
    };
  }
}

const activeIn = ({ plugins }: Generation): ReadonlySet<string> =>
  new Set([...plugins.values()].flatMap(({ name, state }) => (state === 'active' ? [name] : [])));

/** Not a locked one; and of those that come with cast only one that was seen to have the thread. */
const mayBeKeptOff = ({ manifest, builtin }: PluginRef, blocked: BlockedRecord): boolean =>
  manifest.name === blocked.plugin && !manifest.locked && !(builtin && blocked.isSuspect);

const synchronous = (answer: unknown, plugin: string): void => {
  if (!(answer instanceof Promise)) return;
  answer.catch(() => undefined);
  throw new CastError('PLUGIN_INVALID', `\`apply\` of plugin ${plugin} is asynchronous`, {
    plugin,
    fix: 'Do asynchronous work in `setup`, or in a tap of `open`.',
  });
};
