/** `/model`: the models of the active provider, or another one of them. */
import { type CommandContext, readModelRef, type Sketch } from '../../../kernel/index.ts';
import { checkModel, listModels } from './check.ts';
import { activeProvider, type Desk, isInFile, MAX_ROWS, requireProvider, save, usage } from './desk.ts';
import { modelRows } from './model-rows.ts';
import { clearSlot } from './slot.ts';
import { choice } from './switch.ts';

export const runModel = async (desk: Desk, args: string, at: CommandContext): Promise<Sketch | string> => {
  const [first, second, ...more] = args.split(/\s+/).filter((word) => word !== '');
  if (first === undefined) return showModels(desk, at);
  if (first === 'off' && more.length === 0) return clearSlot(desk, second, at);
  if (second !== undefined) throw usage('/model takes one name', 'Usage: /model MODEL, or /model off SLOT.');
  return chooseModel(desk, first, at);
};

const showModels = async (desk: Desk, at: CommandContext): Promise<Sketch> => {
  const provider = activeProvider(desk);
  if (!provider) throw usage('no provider is configured', '/provider find looks on this machine; /provider add NAME URL adds one.');
  const models = await listModels(desk, provider, at.signal);
  const { model } = at.session;
  if (!models || models.length === 0) {
    const now = model === '' ? '' : ` ${model} is in use.`;
    return { kind: 'text', text: `${provider.name} gives no list of models.${now} Choose one by its name: /model MODEL` };
  }
  const table = modelRows(models, { current: model, commandFor: (id) => `/model ${id}` });
  if (models.length <= MAX_ROWS) return table;
  return { kind: 'rows', rows: [table, { kind: 'text', text: `And ${models.length - MAX_ROWS} more; any can be chosen by its name.` }] };
};

const chooseModel = async (desk: Desk, ref: string, at: CommandContext): Promise<string> => {
  const { providers } = desk.scope.registries;
  const active = activeProvider(desk);
  const names = providers.list().map(({ name }) => name);
  const { provider: name, model } = readModelRef(ref, names, active?.name ?? '');
  refuseForeign(desk, name);
  await checkModel(desk, requireProvider(desk, name), model, at.signal);
  const { provider: isNamed } = desk.scope.config.value;
  // Where the environment brings the provider, only the model is ours to save.
  const changes = isInFile(desk, name) || (isNamed !== undefined && name !== active?.name) ? choice(desk, name, model) : { model };
  const note = await save(desk, at, changes);
  return `${model}${name === active?.name ? '' : ` of ${name}`} answers from the next turn on.${note}`;
};

/** A model of the environment's provider must not be saved as one of the provider that the settings name. */
const refuseForeign = (desk: Desk, name: string): void => {
  const isOfEnvironment = desk.scope.config.origin(`providers.${name}.baseUrl`)?.layer === 'environment';
  const others = desk.scope.registries.providers.list().some((each) => isInFile(desk, each.name));
  if (isOfEnvironment && others)
    throw usage(`the provider ${name} comes from the environment, and the settings are about another`, 'Set CAST_MODEL, or unset CAST_BASE_URL.');
};
