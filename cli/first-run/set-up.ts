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
    const [, name = SOME_NAME, url = ''] = args.split(' ');
    before = url;
    const outcome = await give(client, dialogue, args);
    if (outcome?.ok) return { name, models: isSketch(outcome.result) ? choicesIn(outcome.result) : [] };
    if (outcome) tellFailure(dialogue, outcome);
  }
  return undefined;
};

/** Arguments of `/provider check`. */
const askForServer = async (dialogue: Dialogue, servers: readonly Choice[], before: string): Promise<string | undefined> => {
  if (servers.length === 0) return askForAddress(dialogue, before);
  const picked = await pick(dialogue, [...servers, OTHER], { question: 'Which one (number; Esc leaves): ', ownText: false });
  if (!picked || !('choice' in picked)) return undefined;
  return picked.choice === OTHER ? askForAddress(dialogue, before) : argumentsOf(picked.choice);
};
const argumentsOf = ({ command }: Choice): string => command.replace(/^\/provider /, '');

const askForAddress = async (dialogue: Dialogue, before: string): Promise<string | undefined> => {
  let url: string | undefined = '';
  while (url === '') url = await dialogue.ask('Address of the provider, such as https://api.openai.com/v1: ', { suggestion: before });
  if (url === undefined) return undefined;
  const key = await dialogue.ask('API key (not shown; empty for none; env:NAME for one in the environment): ', { isSecret: true });
  if (key === undefined) return undefined;
  return ['check', nameFor(url), url.replace(/\s+/g, ''), key.replace(/\s+/g, '')].filter((word) => word !== '').join(' ');
};

/** `https://api.openai.com/v1` is `openai`, `http://localhost:1234` is `local`. */
export const nameFor = (url: string): string => {
  const text = url.includes('://') ? url : `http://${url}`;
  const host = URL.canParse(text) ? new URL(text).hostname : '';
  if (/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(host)) return 'local';
  if (/^(?:[\d.]*|\[.*\])$/.test(host)) return SOME_NAME;
  const [label = '', parent] = host.split('.').slice(-2);
  return (parent === undefined ? host : label).replace(/[^a-z0-9-]/g, '') || SOME_NAME;
};

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

const tellFailure = (dialogue: Dialogue, { message, suggestedFix = '' }: Extract<CommandOutcome, { ok: false }>): void =>
  dialogue.say(`${oneLine(message).replace(/\.$/, '')}. ${oneLine(suggestedFix)}`.trimEnd());

const isSketch = (result: string | Sketch | undefined): result is Sketch => typeof result === 'object';
const textOf = (result: string | Sketch | undefined): string => (isSketch(result) ? drawSketch(result) : (result ?? ''));
