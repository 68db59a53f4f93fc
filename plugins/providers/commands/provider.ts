/** `/provider`: which of its forms is meant. */
import type { CommandContext, Sketch } from '../../../kernel/index.ts';
import { AUTO, DIALECT_NAMES, isDialectName } from '../dialects/names.ts';
import { addProvider, checkProvider, saveProvider } from './add.ts';
import { type Desk, requireProvider, save, settingsOf, usage } from './desk.ts';
import { findProviders, listProviders } from './list.ts';
import { deleteProvider } from './delete.ts';
import { switchProvider } from './switch.ts';

type Form = (desk: Desk, words: readonly string[], at: CommandContext) => Promise<Sketch | string>;

interface Verb {
  readonly words: readonly [least: number, most: number];
  readonly usage: string;
  readonly run: Form;
}
/** `check` and `save` are the two halves of `add`, for surfaces that let a person pick a model between them. */
const VERBS: Readonly<Record<string, Verb>> = {
  list: { words: [0, 0], usage: '/provider list', run: async (desk) => listProviders(desk) },
  find: { words: [0, 0], usage: '/provider find', run: (desk, _, at) => findProviders(desk, at) },
  add: { words: [2, 3], usage: '/provider add NAME URL [KEY|env:VARIABLE]', run: addProvider },
  check: { words: [2, 3], usage: '/provider check NAME URL [KEY|env:VARIABLE]', run: checkProvider },
  save: { words: [1, 2], usage: '/provider save NAME [MODEL]', run: saveProvider },
  delete: { words: [1, 1], usage: '/provider delete NAME', run: deleteProvider },
};

export const runProvider = async (desk: Desk, args: string, at: CommandContext): Promise<Sketch | string> => {
  const [first = 'list', ...rest] = args.split(/\s+/).filter((word) => word !== '');
  const verb = Object.hasOwn(VERBS, first) ? VERBS[first] : undefined;
  if (!verb) return ofProvider(desk, first, rest, at);
  if (rest.length < verb.words[0] || rest.length > verb.words[1]) throw usage(`/provider ${first} takes other words`, `Usage: ${verb.usage}.`);
  return verb.run(desk, rest, at);
};

const ofProvider = async (desk: Desk, name: string, rest: readonly string[], at: CommandContext): Promise<Sketch | string> => {
  const [model, dialect] = rest;
  if (rest.length === 2 && model === 'reasoning') return setDialect(desk, name, dialect ?? '', at);
  if (rest.length > 1) throw usage(`/provider ${name} takes other words`, 'Usage: /provider NAME [MODEL], or /provider NAME reasoning DIALECT|auto.');
  return switchProvider(desk, name, model, at);
};

const setDialect = async (desk: Desk, name: string, dialect: string, at: CommandContext): Promise<string> => {
  requireProvider(desk, name);
  if (!settingsOf(desk, name)) throw usage(`${name} is brought by a plugin, which speaks for it`, 'Only providers of the configuration have a dialect.');
  if (dialect !== AUTO && !isDialectName(dialect)) throw usage(`there is no dialect ${dialect}`, `Use ${AUTO}, ${DIALECT_NAMES.join(', ')}.`);
  const note = await save(desk, at, { providers: { [name]: { dialect: dialect === AUTO ? undefined : dialect } } });
  return `${name} ${dialect === AUTO ? 'is spoken to as its host suggests' : `is spoken to as ${dialect}`}.${note}`;
};
