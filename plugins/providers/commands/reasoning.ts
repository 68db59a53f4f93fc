/** `/reasoning`: how much the model reasons, remembered for each model. */
import type { CommandContext, Sketch } from '../../../kernel/index.ts';
import { dialectOf } from '../dialects/dialect.ts';
import { DEFAULT_BASE_URL } from '../target.ts';
import { activeProvider, type Desk, isInFile, save, settingsOf, usage } from './desk.ts';

/** Where nothing is known about the model: those of the dialect that its provider speaks. */
const usualLevels = (desk: Desk, provider: string, model: string): readonly string[] => {
  const settings = settingsOf(desk, provider);
  return dialectOf(settings?.baseUrl ?? DEFAULT_BASE_URL, model, settings?.dialect).levels;
};

export const runReasoning = async (desk: Desk, args: string, at: CommandContext): Promise<Sketch | string> => {
  const provider = activeProvider(desk);
  const { model } = at.session;
  if (!provider || model === '') throw usage('no model is chosen', '/model chooses one.');
  const info = provider.info?.(model)?.reasoning;
  const levels = info?.levels ?? usualLevels(desk, provider.name, model);
  if (levels.length === 0) return `${model} does not reason.`;
  const level = args.trim();
  return level === '' ? table(levels, chosenLevel(desk, provider.name, model), info?.default) : choose(desk, provider.name, level, levels, at);
};

const choose = async (desk: Desk, provider: string, level: string, levels: readonly string[], at: CommandContext): Promise<string> => {
  const { model } = at.session;
  if (level === 'default') return `${model} reasons as its provider has it.${await saveLevel(desk, provider, undefined, at)}`;
  if (!levels.includes(level)) throw usage(`${model} knows no level ${level}`, `Use ${levels.join(', ')}, or default.`);
  return `${model} reasons at level ${level} from the next turn on.${await saveLevel(desk, provider, level, at)}`;
};

/** A provider that no file names has no place of its own there. */
const saveLevel = async (desk: Desk, provider: string, level: string | undefined, at: CommandContext): Promise<string> => {
  await desk.level.forget();
  return save(desk, at, isInFile(desk, provider) ? { providers: { [provider]: { reasoning: { [at.session.model]: level } } } } : { reasoning: level });
};

const chosenLevel = (desk: Desk, provider: string, model: string): string | undefined => {
  const own = settingsOf(desk, provider)?.reasoning ?? {};
  return (Object.hasOwn(own, model) ? own[model] : undefined) ?? desk.scope.config.value.reasoning;
};

const table = (levels: readonly string[], chosen: string | undefined, usual: string | undefined): Sketch => ({
  kind: 'table',
  head: ['', 'level', ''],
  rows: [...levels, 'default'].map((level) => {
    const isCurrent = level === (chosen ?? 'default');
    return {
      cells: [isCurrent ? 'current' : '', level, level === usual ? 'usual' : ''],
      actions: isCurrent ? [] : [{ label: 'use', command: `/reasoning ${level}` }],
    };
  }),
});
