/** Tables of providers: those that are known, and those that run on this machine. */
import type { CommandContext, ModelInfo, Sketch } from '../../../kernel/index.ts';
import { activeProvider, compare, type Desk, isInFile, settingsOf } from './desk.ts';
import { freeName } from './names.ts';
import { withinTime } from './time.ts';

/** Milliseconds for all of this machine. */
const FIND_MS = 5_000;

export const listProviders = (desk: Desk): Sketch => {
  const { providers } = desk.scope.registries;
  const active = activeProvider(desk)?.name;
  const rows = [...providers.list()]
    .sort((one, other) => compare(one.name, other.name))
    .map(({ name, from }) => {
      const settings = settingsOf(desk, name);
      const place = settings ? hostOf(settings.baseUrl) : `(plugin ${from})`;
      const use = name === active ? [] : [{ label: 'use', command: `/provider ${name}` }];
      const remove = isInFile(desk, name) ? [{ label: 'delete', command: `/provider delete ${name}` }] : [];
      return {
        cells: [name === active ? 'active' : '', name, place, settings ? (settings.api ?? 'chat') : '', settings ? (settings.dialect ?? 'auto') : ''],
        actions: [...use, ...remove],
      };
    });
  if (rows.length === 0) return { kind: 'text', text: 'No provider is configured. /provider find looks on this machine; /provider add NAME URL adds one.' };
  return { kind: 'table', head: ['', 'provider', 'host', 'api', 'dialect'], rows };
};

const hostOf = (baseUrl: string | undefined): string => {
  if (baseUrl === undefined) return 'api.openai.com';
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
};

/** Rows lead to `/provider check`, which lists the models of one. */
export const findProviders = async (desk: Desk, at: CommandContext): Promise<Sketch> => {
  const { scope } = desk;
  const { loadLocal } = await import('../models/metadata.ts');
  const { findLocalServers } = await loadLocal();
  const { fetch } = scope.powers.net;
  const servers = await withinTime({ clock: scope.clock, ms: FIND_MS, who: 'this machine' }, at.signal, (signal) =>
    findLocalServers(fetch, signal, { environment: scope.environment }),
  );
  if (servers.length === 0) return { kind: 'text', text: 'No model server was found on this machine.' };
  const taken = new Set(scope.registries.providers.list().map(({ name }) => name));
  const rows = servers.map(({ kind, name, baseUrl, models }) => {
    const free = freeName(kind, taken);
    taken.add(free);
    return { cells: [name, baseUrl, count(models)], actions: [{ label: 'use', command: `/provider check ${free} ${baseUrl}` }] };
  });
  return { kind: 'table', head: ['server', 'address', 'models'], rows };
};

const count = (models: readonly ModelInfo[]): string => `${models.length} ${models.length === 1 ? 'model' : 'models'}`;
