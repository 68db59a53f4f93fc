/** `/provider NAME [MODEL]`: provider and model change together, or not at all. */
import type { CommandContext, Provider } from '../../../kernel/index.ts';
import { checkModel, listModels } from './check.ts';
import { activeProvider, type Desk, isInFile, requireProvider, save, settingsOf, usage } from './desk.ts';

/** More than that no person reads; a name can be given instead. */
const MAX_CHOICES = 30;

export const switchProvider = async (desk: Desk, name: string, asked: string | undefined, at: CommandContext): Promise<string> => {
  const provider = requireProvider(desk, name);
  if (asked === undefined && activeProvider(desk)?.name === name) return `${name} is the provider in use.`;
  const saved = settingsOf(desk, name)?.model;
  const model = asked ?? saved ?? (await askForModel(desk, provider, at));
  if (model === undefined) return '[Cancelled: the provider stays as it was]';
  if (model !== saved) await checkModel(desk, provider, model, at.signal);
  const note = await save(desk, at, choice(desk, name, model));
  return `${name} is used from now on, with ${model}.${note}`;
};

/** What makes a model of a provider the one in use. */
export const choice = (desk: Desk, name: string, model: string): Readonly<Record<string, unknown>> => ({
  model,
  provider: name,
  ...(isInFile(desk, name) ? { providers: { [name]: { model } } } : {}),
});

/** Undefined when the person wants none of them. */
const askForModel = async (desk: Desk, provider: Provider, at: CommandContext): Promise<string | undefined> => {
  const models = at.session.interactive ? await listModels(desk, provider, at.signal) : undefined;
  if (!models || models.length === 0 || models.length > MAX_CHOICES)
    throw usage(`no model of ${provider.name} was chosen yet`, `Name one: /provider ${provider.name} MODEL`);
  const choices = models.map(({ id }) => ({ value: id, label: id }));
  const chosen = await at.ask({ text: `Which model of ${provider.name}?`, choices: [...choices, { value: '', label: 'Cancel' }] });
  return chosen === '' ? undefined : chosen;
};
