/** What a plugin sees of the hooks: a port for each, and a clear error for anything else. */
import { CastError } from '../errors.ts';
import { nearest } from '../nearest.ts';
import type { Manifest, Scope, TapOptions } from '../plugin.ts';
import { GUARD_STAGES, HOOKS, STAGES, type HookName } from './catalogue.ts';
import type { HookSet } from './hook-set.ts';
import { position } from './order.ts';

type Run = (subject: never, context: never) => unknown;
type Options = TapOptions & { readonly when?: { readonly tool: string | readonly string[] } };

/** Ports through which one plugin taps; its name is set here, so it cannot speak for another. */
export const createPorts = (hooks: HookSet, manifest: Manifest, rank: number): Scope<unknown, never>['hooks'] =>
  new Proxy({} as Scope<unknown, never>['hooks'], {
    get: (_, name) => {
      if (typeof name !== 'string') return undefined;
      if (!Object.hasOwn(HOOKS, name)) {
        const near = nearest(name, Object.keys(HOOKS));
        throw new CastError('HOOK_UNKNOWN', `plugin ${manifest.name} taps ${name}, which is no hook${near ? `; did it mean ${near}?` : ''}`, {
          plugin: manifest.name,
          fix: `The hooks are: ${Object.keys(HOOKS).join(', ')}.`,
        });
      }
      return { tap: (label: string, ...rest: [Run] | [Options, Run]) => register(hooks, manifest, rank, name as HookName, label, rest) };
    },
  });

const register = (hooks: HookSet, manifest: Manifest, rank: number, hook: HookName, label: string, rest: [Run] | [Options, Run]): void => {
  const [options, run] = rest.length === 1 ? [{} as Options, rest[0]] : rest;
  const stage = options.stage ?? 'normal';
  const invalid = (what: string, fix: string): CastError =>
    new CastError('PLUGIN_INVALID', `plugin ${manifest.name}, tap "${label}" of ${hook}: ${what}`, { plugin: manifest.name, hook, fix });
  if (typeof run !== 'function') throw invalid('there is no function to run', 'Give the function as the last argument.');
  if (manifest.taps?.includes(hook) === false) throw invalid('its manifest does not name this hook', `Add ${hook} to \`taps\`.`);
  if (!STAGES.includes(stage)) throw invalid(`there is no stage ${stage}`, `The stages are: ${STAGES.join(', ')}.`);
  if (options.onFault === 'skip' && GUARD_STAGES.has(stage))
    throw invalid(`a tap in stage ${stage} guards, so its faults cannot be skipped`, 'Use stage normal or late.');
  hooks.tap(
    {
      hook,
      plugin: manifest.name,
      label,
      stage,
      position: position(stage, rank),
      when: toolsOf(options),
      budgetMs: budgetOf(hook, options.budgetMs, invalid),
      skipsFaults: options.onFault === 'skip',
      site: new Error(label),
      calls: 0,
      ms: 0,
      slowestMs: 0,
      faults: 0,
      changed: 0,
      state: 'open',
    },
    run,
  );
};

const toolsOf = ({ when }: Options): readonly string[] | null => {
  if (when === undefined) return null;
  return typeof when.tool === 'string' ? [when.tool] : when.tool;
};

const budgetOf = (hook: HookName, wish: number | undefined, invalid: (what: string, fix: string) => CastError): number | null => {
  const { budget } = HOOKS[hook];
  if (budget === null) return null;
  if (wish === undefined) return budget.default;
  if (!(wish > 0 && wish <= budget.ceiling))
    throw invalid(`a budget of ${wish} ms is not between 1 and ${budget.ceiling}`, 'Ask for less, or do the work in the background.');
  return wish;
};
