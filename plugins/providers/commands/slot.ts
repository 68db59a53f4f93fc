/** Models for other work than the conversation: `/subagent-model`, `/plan-model`, `/model off SLOT`. */
import { type CommandContext, type ModelSlots, readModelRef } from '../../../kernel/index.ts';
import { checkModel } from './check.ts';
import { activeProvider, type Desk, requireProvider, save, usage } from './desk.ts';

type Slot = keyof ModelSlots;
const SLOTS: Readonly<Record<Slot, string>> = { subagent: 'sub-agents', plan: 'plan mode', summary: 'summaries', judge: 'the judge of commands' };
const isSlot = (word: string): word is Slot => Object.hasOwn(SLOTS, word);

export const runSlot = async (desk: Desk, slot: Slot, args: string, at: CommandContext): Promise<string> => {
  const ref = args.trim();
  if (ref === '') {
    const chosen = desk.scope.config.value.models?.[slot];
    return `The model of ${SLOTS[slot]}: ${chosen ?? `${at.session.model || 'none'}, as of the conversation`}.`;
  }
  if (ref === 'off') return clearSlot(desk, slot, at);
  if (/\s/.test(ref)) throw usage(`/${slot}-model takes one name`, 'Give MODEL, PROVIDER/MODEL or off.');
  const names = desk.scope.registries.providers.list().map(({ name }) => name);
  const { provider, model } = readModelRef(ref, names, activeProvider(desk)?.name ?? '');
  await checkModel(desk, requireProvider(desk, provider), model, at.signal);
  // With its provider, so that it stays right when another one becomes active.
  const note = await save(desk, at, { models: { [slot]: `${provider}/${model}` } });
  return `The model of ${SLOTS[slot]} is ${provider}/${model} from now on.${note}`;
};

export const clearSlot = async (desk: Desk, slot: string | undefined, at: CommandContext): Promise<string> => {
  if (slot === undefined || !isSlot(slot)) throw usage(`there is no slot ${slot ?? 'without a name'}`, `Use /model off ${Object.keys(SLOTS).join(', or ')}.`);
  const note = await save(desk, at, { models: { [slot]: undefined } });
  return `The model of the conversation is used for ${SLOTS[slot]}.${note}`;
};
