/** Which provider and model a configuration leads to, and what to set where it leads to none. */
import { CastError, type CastConfig, type ProviderConfig } from '../kernel/index.ts';

const SET_ALL =
  'Run `cast` in a terminal, which asks for what is needed; or set CAST_BASE_URL, CAST_API_KEY and CAST_MODEL, or write `providers`, `provider` and `model` into settings.json.';

export interface ActiveProvider {
  readonly name: string;
  /** Undefined when only a plugin can bring it. */
  readonly settings: ProviderConfig | undefined;
}

/** Throws CONFIG_NO_MODEL when there is none. */
export const activeProvider = (config: CastConfig): ActiveProvider => {
  const providers = config.providers ?? {};
  const name = config.provider ?? Object.keys(providers)[0];
  if (name === undefined)
    throw new CastError('CONFIG_NO_MODEL', config.model === undefined ? 'no provider and no model are configured' : 'no provider is configured', {
      fix: SET_ALL,
    });
  return { name, settings: Object.hasOwn(providers, name) ? providers[name] : undefined };
};

/** Throws CONFIG_NO_MODEL when a run could not even begin. A plugin may bring the provider, a resumed session its model. */
export const requireModel = (config: CastConfig, may: { readonly comeFromPlugin: boolean; readonly comeFromSession: boolean }): void => {
  if (!may.comeFromPlugin || config.provider !== undefined) {
    const { name, settings } = activeProvider(config);
    if (!settings && !may.comeFromPlugin) throw unknownProvider(name, Object.keys(config.providers ?? {}));
  }
  if (config.model === undefined && !may.comeFromSession)
    throw new CastError('CONFIG_NO_MODEL', 'no model is configured', { fix: 'Name one with --model or CAST_MODEL.' });
};

const unknownProvider = (name: string, known: readonly string[]): CastError =>
  new CastError('CONFIG_NO_MODEL', `there is no provider ${name}`, { fix: known.length > 0 ? `Known are ${known.join(', ')}.` : SET_ALL });
