/** A provider and a model, chosen by a person at a terminal: through the same commands that a session has. */
import type { Client, CommandOutcome, Sketch } from '../../kernel/index.ts';
import { drawSketch } from '../sketch.ts';
import { oneLine } from '../style.ts';
import type { Dialogue } from './dialogue.ts';
import { choicesIn, pick, type Choice } from './pick.ts';

/** What a provider is called whose address gives no name. */
const SOME_NAME = 'mine';
const OTHER: Choice = { cells: ['another address'], name: 'another address', command: '' };

/** What was saved, in words; undefined when the person left before anything was. */
export const setUp = async (client: Client, dialogue: Dialogue): Promise<string | undefined> => {
  dialogue.say('No model is configured yet. Looking for model servers on this machine…');
  const found = await give(client, dialogue, 'find');
  const servers = found?.ok && isSketch(found.result) ? choicesIn(found.result) : [];
  if (servers.length === 0 && !dialogue.signal.aborted) dialogue.say('None was found.');
  const listing = await chooseServer(client, dialogue, servers);
  return listing && chooseModel(client, dialogue, listing);
};

interface Listing {
  readonly name: string;
  readonly models: readonly Choice[];
}

/** Undefined when the person wants no more. */
const chooseServer = async (client: Client, dialogue: Dialogue, servers: readonly Choice[]): Promise<Listing | undefined> => {
  let before = '';
  while (!dialogue.signal.aborted) {
    const args = await askForServer(dialogue, servers, before);
    if (args === undefined) return undefined;
    before = args.url;
    dialogue.say(`Asking ${oneLine(args.url)}…`);
    const found = await check(client, dialogue, args);
    if (found && 'name' in found) return found;
    if (found) tellFailure(dialogue, found);
  }
  return undefined;
};

type Failure = Extract<CommandOutcome, { ok: false }>;
/** Undefined when the person left meanwhile. A name that cannot be one, because it means something else, is no reason to ask anybody. */
const check = async (client: Client, dialogue: Dialogue, { name, url, key }: Arguments): Promise<Listing | Failure | undefined> => {
  const outcome = await give(client, dialogue, `check ${name} ${url} ${key}`);
  if (outcome?.ok) return { name, models: isSketch(outcome.result) ? choicesIn(outcome.result) : [] };
  return outcome?.code === 'CLI_USAGE' && name !== SOME_NAME ? check(client, dialogue, { name: SOME_NAME, url, key }) : outcome;
};

/** Of `/provider check`. */
interface Arguments {
  readonly name: string;
  readonly url: string;
  /** Empty for none. */
  readonly key: string;
}
const askForServer = async (dialogue: Dialogue, servers: readonly Choice[], before: string): Promise<Arguments | undefined> => {
  if (servers.length === 0) return askForAddress(dialogue, before);
  const picked = await pick(dialogue, [...servers, OTHER], { question: 'Which one (number; Esc leaves): ', ownText: false });
  if (!picked || !('choice' in picked)) return undefined;
  if (picked.choice === OTHER) return askForAddress(dialogue, before);
  const [, name = '', url = ''] = argumentsOf(picked.choice).split(' ');
  return { name, url, key: '' };
};
const argumentsOf = ({ command }: Choice): string => command.replace(/^\/provider /, '');

const askForAddress = async (dialogue: Dialogue, before: string): Promise<Arguments | undefined> => {
  dialogue.say('\nType the address of a provider, such as https://api.openai.com/v1. Esc leaves.');
  let given: string | undefined = '';
  while (given === '') given = await dialogue.ask('Address: ', { suggestion: before });
  if (given === undefined) return undefined;
  const key = await dialogue.ask('API key (not shown; empty for none; env:NAME takes that variable): ', { isSecret: true });
  if (key === undefined) return undefined;
  const url = given.replace(/\s+/g, '');
  return { name: nameFor(url), url, key: key.replace(/\s+/g, '') };
};

/** `https://api.openai.com/v1` is `openai`, `http://localhost:1234` is `local`. */
export const nameFor = (url: string): string => {
  const text = url.includes('://') ? url : `http://${url}`;
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  if (/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host)) return 'local';
  if (/^(?:[\d.]*|\[.*\])$/.test(host)) return SOME_NAME;
  const labels = host.split('.').filter((label) => label !== '');
  const [first = '', ...own] = labels.slice(0, -1).toReversed();
  // As in `example.co.uk`.
  const label = labels.length < 2 ? host : SHARED.test(first) ? (own[0] ?? first) : first;
  return label.replace(/[^a-z0-9-]|^-+/g, '').slice(0, MAX_NAME) || SOME_NAME;
};
const SHARED = /^(?:co|com|net|org|ac|gov|edu)$/;
const MAX_NAME = 30;

/** What was saved; undefined when the person wants no more. */
const chooseModel = async (client: Client, dialogue: Dialogue, { name, models }: Listing): Promise<string | undefined> => {
  if (models.length === 0) dialogue.say('It answers and lists no models.');
  const question = models.length === 0 ? 'Name of the model: ' : 'Which model (number, or a name; Esc leaves): ';
  while (!dialogue.signal.aborted) {
    const picked = await pick(dialogue, models, { question, ownText: true });
    if (!picked) return undefined;
    dialogue.say('Trying it…');
    const outcome = await give(client, dialogue, 'typed' in picked ? `save ${name} ${picked.typed.replace(/\s+/g, '')}` : argumentsOf(picked.choice));
    if (outcome?.ok) return textOf(outcome.result);
    if (outcome) tellFailure(dialogue, outcome);
  }
  return undefined;
};

/** `/provider`. Undefined when the person left meanwhile and nothing came of it. */
const give = async (client: Client, { signal }: Dialogue, args: string): Promise<CommandOutcome | undefined> => {
  const stop = (): void => void client.abort('cancelled');
  signal.addEventListener('abort', stop, { once: true });
  try {
    const outcome = await client.command('provider', args);
    return signal.aborted && !outcome.ok ? undefined : outcome;
  } finally {
    signal.removeEventListener('abort', stop);
  }
};

/** Of a key the person knows no more than that it was typed: what it is saved as says nothing to them. */
const tellFailure = (dialogue: Dialogue, { code, message, suggestedFix = '' }: Failure): void =>
  dialogue.say(`${oneLine(message).replace(/\.$/, '')}. ${code === 'MODEL_AUTH' ? 'Check the key and the address.' : oneLine(suggestedFix)}`.trimEnd());

const isSketch = (result: string | Sketch | undefined): result is Sketch => typeof result === 'object';
const textOf = (result: string | Sketch | undefined): string => (isSketch(result) ? drawSketch(result) : (result ?? ''));
