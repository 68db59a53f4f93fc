/** New providers: checked first, then saved with their key. */
import type { CommandContext, Provider, ProviderConfig, Sketch } from '../../../kernel/index.ts';
import { addressOf, checkEndpoint, checkModel, type Checked } from './check.ts';
import { type Desk, isFirstChoice, type Draft, save, settingsOf, usage } from './desk.ts';
import { modelRows } from './model-rows.ts';
import { checkName, keyNameOf } from './names.ts';

const MAX_DRAFTS = 20;
/** Milliseconds. */
const [WINDOW_MS, POLL_MS] = [1_000, 50];

/** `/provider add NAME URL [KEY]`. */
export const addProvider = async (desk: Desk, words: readonly string[], at: CommandContext): Promise<string> => {
  const { models } = await check(desk, words, at);
  const saved = await saveProvider(desk, words.slice(0, 1), at);
  return models === undefined ? `${saved} It gives no list of models, so only its address was checked.` : saved;
};

/** `/provider check NAME URL [KEY]`: nothing is saved; the rows lead to `/provider save`. */
export const checkProvider = async (desk: Desk, words: readonly string[], at: CommandContext): Promise<Sketch> => {
  const [name = ''] = words;
  const { models, config } = await check(desk, words, at);
  const place = `${name} at ${config.baseUrl}`;
  if (models === undefined || models.length === 0)
    return { kind: 'text', text: `${place} answers and lists no models. Name one: /provider save ${name} MODEL` };
  return { kind: 'rows', rows: [{ kind: 'text', text: place }, modelRows(models, { commandFor: (id) => `/provider save ${name} ${id}` })] };
};

const check = async (desk: Desk, [name = '', url = '', key]: readonly string[], at: CommandContext): Promise<Checked> => {
  checkName(name);
  const baseUrl = addressOf(url);
  refuseTaken(desk, name, baseUrl);
  const own = await keyOf(desk, name, key);
  const { models, provider, config } = await checkEndpoint(
    desk,
    { name, config: { ...settingsOf(desk, name), baseUrl, key: own.name }, key: own.value },
    at.signal,
  );
  desk.drafts.delete(name);
  desk.drafts.set(name, { config, key: own.isToBeSaved ? own.value : undefined, provider });
  for (const oldest of [...desk.drafts.keys()].slice(0, -MAX_DRAFTS)) desk.drafts.delete(oldest);
  return { models, provider, config };
};

/** The same address again is for another key. */
const refuseTaken = (desk: Desk, name: string, baseUrl: string): void => {
  const known = settingsOf(desk, name);
  const isTaken = known ? known.baseUrl !== undefined && !isSameAddress(known.baseUrl, baseUrl) : desk.scope.registries.providers.get(name) !== undefined;
  if (isTaken) throw usage(`there is a provider ${name} already`, `Choose another name, or first: /provider delete ${name}`);
};
const isSameAddress = (known: string, given: string): boolean => {
  const [one, other] = [addressOf(known), addressOf(given)];
  return one === other || one === `${other}/v1`;
};

interface Key {
  /** Empty: none is sent. */
  readonly name: string;
  readonly value: string | undefined;
  readonly isToBeSaved: boolean;
}
const keyOf = async ({ scope }: Desk, name: string, given: string | undefined): Promise<Key> => {
  if (given === undefined || given === '') return { name: '', value: undefined, isToBeSaved: false };
  const variable = /^env:([A-Za-z_]\w*)$/.exec(given)?.[1];
  if (variable === undefined) return { name: keyNameOf(name), value: given, isToBeSaved: true };
  const value = await scope.powers.secrets.get(variable);
  if (value === undefined) throw usage(`there is nothing in ${variable}`, `Set the variable before cast is started, or give the key itself.`);
  return { name: variable, value, isToBeSaved: false };
};

/** `/provider save NAME [MODEL]`: what was checked before. With a model it is used from now on; without one only where none is. */
export const saveProvider = async (desk: Desk, [name = '', model]: readonly string[], at: CommandContext): Promise<string> => {
  const draft = desk.drafts.get(name);
  if (!draft) throw usage(`${name} was not checked in this session`, `First: /provider check ${name} URL [KEY]`);
  if (model !== undefined) await checkModel(desk, draft.provider, model, at.signal);
  const isFirst = isFirstChoice(desk);
  const note = await keepKey(desk, draft, () => save(desk, at, changesOf(name, draft.config, model, isFirst)));
  desk.drafts.delete(name);
  const window = model === undefined ? undefined : await windowOf(desk, draft.provider, model);
  return `${sentence(desk, name, draft, { model, isFirst, window })}${note}`;
};

const changesOf = (name: string, config: ProviderConfig, model: string | undefined, isFirst: boolean): Readonly<Record<string, unknown>> => ({
  providers: { [name]: { baseUrl: config.baseUrl, key: config.key, ...(model === undefined ? {} : { model }) } },
  ...(model !== undefined || isFirst ? { provider: name, model } : {}),
});

/** The key goes first, so that no provider is without it, and back where the settings cannot be written. */
const keepKey = async <T>({ scope }: Desk, { config, key }: Draft, then: () => Promise<T>): Promise<T> => {
  const { secrets } = scope.powers;
  if (key === undefined || !config.key) return then();
  const before = await secrets.get(config.key);
  await secrets.set(config.key, key);
  try {
    return await then();
  } catch (error) {
    await secrets.set(config.key, before);
    throw error;
  }
};

/** Tokens. What a server of this machine says of a model may still be under way when its reply has begun. */
const windowOf = async ({ scope }: Desk, provider: Provider, model: string): Promise<number | undefined> => {
  for (let waited = 0; waited < WINDOW_MS; waited += POLL_MS) {
    const window = provider.info?.(model)?.contextWindow;
    if (window !== undefined) return window;
    await scope.clock.sleep(POLL_MS);
  }
  return undefined;
};

interface Outcome {
  readonly model: string | undefined;
  readonly isFirst: boolean;
  readonly window: number | undefined;
}
const sentence = ({ scope }: Desk, name: string, { config, key }: Draft, { model, isFirst, window }: Outcome): string => {
  const keyText = key !== undefined ? ' Its key is in secrets.json.' : config.key ? ` Its key is read from ${config.key}.` : '';
  const where = `Saved ${name} (${config.baseUrl}) in ${scope.home}/settings.json.${keyText}`;
  if (model === undefined) return isFirst ? `${where} It is used from now on; choose a model with /model.` : `${where} Use it with /provider ${name}.`;
  return `${where} From now on ${model} answers${window === undefined ? '' : `, with a context window of ${window} tokens`}.`;
};
