/** What one plugin is handed for one generation. */
import type { PluginReport } from '../contracts/report.ts';
import { messageOf } from '../errors.ts';
import { createPorts } from '../hooks/port.ts';
import { runAs } from '../hooks/running.ts';
import type { Capability, Panel, Scope } from '../plugin.ts';
import type { Generation } from '../session/generation.ts';
import type { Session } from '../session/session.ts';
import { reminder, reminderBy } from '../session/view.ts';
import type { Credentials } from './credentials.ts';
import type { LoadedPlugin } from './plugins.ts';
import { createPowers } from './powers.ts';
import { createStorage } from './storage.ts';

export interface ScopeSource {
  readonly session: Session;
  readonly generation: Generation;
  readonly credentials: Credentials;
  /** The client's, with credentials: only `net` reads proxies from it. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export const createScope = (plugin: LoadedPlugin, options: unknown, rank: number, source: ScopeSource): Scope<unknown, Capability> => {
  const { session, generation, credentials, environment } = source;
  const { manifest } = plugin.ref;
  const { name } = manifest;
  return {
    options: options as Readonly<unknown>,
    config: generation.config,
    environment: credentials.environment,
    home: plugin.host.home,
    host: plugin.host,
    powers: createPowers(name, manifest.capabilities, { session, home: plugin.host.home, environment, credentials, config: generation.config }),
    session: session.face,
    hooks: createPorts(generation.hooks, manifest, rank),
    events: {
      on: (type, run) => {
        const listening = session.events.on(type, (data) => {
          const failed = (error: unknown): void => plugin.host.log.warn(`plugin ${name} failed on the event ${type}`, { error: messageOf(error) });
          // A listener that throws, at once or later, must not reach whoever emitted.
          try {
            const answer: unknown = runAs({ plugin: name, where: 'event', label: type }, () => run(data));
            if (answer instanceof Promise) answer.catch(failed);
          } catch (error) {
            failed(error);
          }
        });
        generation.onDispose(name, () => listening[Symbol.dispose]());
        return listening;
      },
      emit: (event, data) => session.emit('plugin', { plugin: name, name: event, data }),
    },
    registries: {
      tools: generation.tools.for(name),
      commands: generation.commands.for(name),
      sections: generation.sections.for(name),
      providers: generation.providers.for(name),
      panels: panelsOf(name, session, generation),
    },
    services: generation.services(name),
    state: generation.slices.for(manifest),
    storage: createStorage(plugin.host.home, name, session.root, (text) => session.warn(text)),
    redact: (pattern) => {
      const added = session.exits.addPattern(pattern);
      generation.onDispose(name, () => added[Symbol.dispose]());
    },
    remind: async (text) => void (await session.append([reminderBy(name, text)])),
    submit: (text, as) =>
      session.turns.bring(as === 'notice' ? { text: reminder(text), source: 'plugin', origin: name } : { text, source: 'plugin', origin: 'user' }),
    notice: (text, code) => session.notice(text, code),
    warn: (text, code) => session.warn(text, code),
    log: plugin.host.log,
    clock: plugin.host.clock,
    ids: plugin.host.ids,
    onDispose: (run) => generation.onDispose(name, run),
  };
};

const panelsOf = (plugin: string, session: Session, generation: Generation): Scope<unknown, never>['registries']['panels'] => {
  const panels = generation.panels.for(plugin);
  return {
    list: panels.list,
    add: (panel: Panel) => ({ ...panels.add(panel), redraw: () => session.emit('plugin', { plugin, name: 'panel.redraw', data: { panel: panel.name } }) }),
  };
};

export const reportOf = (
  plugin: { readonly manifest: LoadedPlugin['ref']['manifest']; readonly source: string },
  state: PluginReport['state'],
  why: string,
  generation: Generation,
  startMs = 0,
): PluginReport => ({
  name: plugin.manifest.name,
  version: plugin.manifest.version,
  summary: plugin.manifest.summary,
  state,
  why,
  source: plugin.source,
  capabilities: plugin.manifest.capabilities,
  locked: plugin.manifest.locked ?? false,
  startMs,
  brings: generation.broughtBy(plugin.manifest.name),
});
