/** `/provider delete NAME`, with all that points at it. */
import type { CommandContext, ModelSlots } from '../../../kernel/index.ts';
import { activeProvider, type Desk, isInFile, requireProvider, save, settingsOf, usage } from './desk.ts';
import { keyNameOf } from './names.ts';

export const deleteProvider = async (desk: Desk, [name = '']: readonly string[], at: CommandContext): Promise<string> => {
  if (!settingsOf(desk, name)) requireProvider(desk, name);
  if (!isInFile(desk, name)) throw usage(`${name} is in no settings file`, 'It comes from the environment or from a plugin, and goes with it.');
  const next = successorOf(desk, name);
  const note = await save(desk, at, { ...pointersTo(desk, name), ...next, [`providers.${name}`]: undefined });
  await forgetKey(desk, name);
  if (!next) return `Deleted ${name}.${note}`;
  if (next.provider === undefined) return `Deleted ${name}. No provider is left; /provider add adds one.${note}`;
  return `Deleted ${name}. ${next.provider} is used from now on${next.model === undefined ? '; choose a model with /model' : ` with ${next.model}`}.${note}`;
};

/** Undefined when another one is active. */
const successorOf = (desk: Desk, name: string): { readonly provider: string | undefined; readonly model: string | undefined } | undefined => {
  if (activeProvider(desk)?.name !== name && desk.scope.config.value.provider !== name) return undefined;
  const next = Object.keys(desk.scope.config.value.providers ?? {}).find((each) => each !== name && isInFile(desk, each));
  return { provider: next, model: next === undefined ? undefined : settingsOf(desk, next)?.model };
};

/** Slots and fallbacks that name a model of it. */
const pointersTo = ({ scope }: Desk, name: string): Readonly<Record<string, unknown>> => {
  const { models = {}, fallback } = scope.config.value;
  const slots = (Object.keys(models) as (keyof ModelSlots)[]).filter((slot) => models[slot]?.startsWith(`${name}/`));
  const left = fallback?.filter((ref) => !ref.startsWith(`${name}/`));
  return {
    ...Object.fromEntries(slots.map((slot) => [`models.${slot}`, undefined])),
    ...(left?.length === fallback?.length ? {} : { fallback: left?.length === 0 ? undefined : left }),
  };
};

/** Only a key that was saved for it, and that no other provider takes. */
const forgetKey = async (desk: Desk, name: string): Promise<void> => {
  const key = keyNameOf(name);
  const takers = Object.entries(desk.scope.config.value.providers ?? {}).filter(([, settings]) => settings.key === key);
  if (takers.length === 1 && takers[0]?.[0] === name) await desk.scope.powers.secrets.set(key, undefined);
};
