/** Servers on this machine: recognised by what answers, and asked for the windows that they really run with. */
import type { ModelInfo } from '../../../kernel/index.ts';
import { type Fields, fieldsOf, isFields, listOf, numberOf, textOf } from '../values.ts';
import { reachOf, rootOf } from './address.ts';
import { type Facts, factsFrom, firstOf, mergeFacts, tokensOf } from './facts.ts';
import { entriesOf, readListing } from './listing.ts';
import { readJson } from './read.ts';

const PROBE_MS = 1_200;
const MAX_BYTES = 2 * 1024 * 1024;
/** Where each kind listens unless it is told otherwise. */
const PORTS = [11434, 1234, 8080, 8000] as const;
const MAX_PORTS = 16;

export type LocalKind = 'ollama' | 'lm-studio' | 'llama.cpp' | 'vllm';
export interface LocalServer {
  readonly kind: LocalKind;
  /** For people. */
  readonly name: string;
  /** What stands before `/chat/completions`. */
  readonly baseUrl: string;
  readonly models: readonly ModelInfo[];
}
const NAMES: Readonly<Record<LocalKind, string>> = { ollama: 'Ollama', 'lm-studio': 'LM Studio', 'llama.cpp': 'llama.cpp', vllm: 'vLLM' };

interface Asking {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
}
type Ask = (url: string, body?: object) => Promise<unknown>;

/** A question that is not answered in time, or not with JSON, is no answer: that is how most of them end. */
const asker =
  ({ fetch, signal, headers = {} }: Asking): Ask =>
  (url, body) =>
    readJson(url, { fetch, signal, headers, timeoutMs: PROBE_MS, maxBytes: MAX_BYTES, ...(body ? { body } : {}) }).catch(() => undefined);

// ---- what each of them says ----

interface Answers {
  /** Of Ollama: the models that are loaded. */
  readonly running: unknown;
  /** Of LM Studio: what is loaded, and what could be. */
  readonly studio: unknown;
  /** Of llama.cpp. */
  readonly props: unknown;
  /** Of all, vLLM with its windows. */
  readonly listing: unknown;
}

const askAll = async (ask: Ask, baseUrl: string): Promise<Answers> => {
  const root = rootOf(baseUrl);
  const [running, studio, props, listing] = await Promise.all([
    ask(`${root}/api/ps`),
    ask(`${root}/api/v0/models`),
    ask(`${root}/props`),
    ask(`${baseUrl}/models`),
  ]);
  return { running, studio, props, listing };
};

const kindOf = ({ running, studio, props, listing }: Answers): LocalKind | undefined => {
  if (isFields(running) && Array.isArray(running['models'])) return 'ollama';
  if (entriesOf(studio).some((entry) => isFields(entry) && ('max_context_length' in entry || 'loaded_context_length' in entry))) return 'lm-studio';
  if (numberOf(settingsIn(props)['n_ctx']) !== undefined) return 'llama.cpp';
  const isVllm = (entry: unknown): boolean => isFields(entry) && (entry['owned_by'] === 'vllm' || tokensOf(entry['max_model_len']) !== undefined);
  return entriesOf(listing).some(isVllm) ? 'vllm' : undefined;
};

const settingsIn = (props: unknown): Fields => fieldsOf(props, 'default_generation_settings');

/** llama.cpp serves one model: its settings are for whatever is asked. */
const propsFacts = (props: unknown): Facts => {
  const vision = fieldsOf(props, 'modalities')['vision'];
  return factsFrom({ contextWindow: tokensOf(settingsIn(props)['n_ctx']), images: typeof vision === 'boolean' ? vision : undefined });
};

const runningFacts = (running: unknown, model: string): Facts => {
  const entry = entriesOf(running).find((each) => isFields(each) && [each['name'], each['model']].some((name) => isSameTag(name, model)));
  return factsFrom({ contextWindow: isFields(entry) ? tokensOf(entry['context_length']) : undefined });
};

/** Without a tag `latest` is meant. */
const isSameTag = (name: unknown, model: string): boolean => {
  const full = (text: string): string => (text.includes(':') ? text : `${text}:latest`);
  return typeof name === 'string' && full(name).toLowerCase() === full(model).toLowerCase();
};

/** What the model was made for, and what its file sets: the window that it runs with may be smaller. */
const shownFacts = (shown: unknown): Facts => {
  const info = fieldsOf(shown, 'model_info');
  const trained = Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1];
  const set = /^\s*num_ctx\s+(\d+)\s*$/m.exec(textOf(isFields(shown) ? shown['parameters'] : undefined) ?? '')?.[1];
  const able = listOf(isFields(shown) ? shown['capabilities'] : undefined);
  return factsFrom({
    contextWindow: firstOf([set, trained], tokensOf),
    images: able.length === 0 ? undefined : able.includes('vision'),
    reasoning: able.length === 0 || able.includes('thinking') ? undefined : { levels: [] },
  });
};

const listedFacts = (body: unknown, model: string): Facts | undefined => {
  const found = readListing(body).find(({ id }) => id === model);
  if (!found) return undefined;
  const { id: _, ...facts } = found;
  return facts;
};

// ---- one model of the server that is in use ----

export interface LocalQuestion extends Asking {
  readonly baseUrl: string;
  readonly model: string;
}

/** What a server of this machine says of a model, once it has been asked for a reply: before that nothing may be loaded. */
export const readLocalModel = async (question: LocalQuestion): Promise<Facts | undefined> => {
  const { baseUrl, model } = question;
  if (reachOf(baseUrl) !== 'loopback') return undefined;
  const ask = asker(question);
  const answers = await askAll(ask, baseUrl);
  const listed = listedFacts(answers.listing, model);
  switch (kindOf(answers)) {
    case 'ollama':
      return mergeFacts(runningFacts(answers.running, model), shownFacts(await ask(`${rootOf(baseUrl)}/api/show`, { model })), listed);
    case 'lm-studio':
      return mergeFacts(listedFacts(answers.studio, model), listed);
    case 'llama.cpp':
      return mergeFacts(propsFacts(answers.props), listed);
    default:
      return listed;
  }
};

// ---- which servers there are ----

export interface LocalSearch {
  /** Default: those of Ollama, LM Studio, llama.cpp and vLLM. */
  readonly ports?: readonly number[];
  /** Of the client: where `OLLAMA_HOST` names a port of this machine, it is looked at as well. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Looks at a few ports of this machine, all at once. Whatever does not answer is not there; it never throws. */
export const findLocalServers = async (fetch: Asking['fetch'], signal: AbortSignal, search: LocalSearch = {}): Promise<readonly LocalServer[]> => {
  const ports = new Set([...ollamaPort(search.environment?.['OLLAMA_HOST']), ...(search.ports ?? PORTS)]);
  const servers = await Promise.all([...ports].slice(0, MAX_PORTS).map((port) => serverAt({ fetch, signal }, `http://127.0.0.1:${port}/v1`)));
  return servers.filter((server) => server !== undefined);
};

const serverAt = async (asking: Asking, baseUrl: string): Promise<LocalServer | undefined> => {
  const answers = await askAll(asker(asking), baseUrl);
  const kind = kindOf(answers);
  return kind && { kind, name: NAMES[kind], baseUrl, models: modelsOf(kind, answers) };
};

const modelsOf = (kind: LocalKind, { running, studio, props, listing }: Answers): readonly ModelInfo[] => {
  const models = readListing(kind === 'lm-studio' ? studio : listing);
  if (kind === 'ollama') return models.map((model) => ({ ...model, ...runningFacts(running, model.id) }));
  return kind === 'llama.cpp' ? models.map((model) => ({ ...model, ...propsFacts(props) })) : models;
};

/** `host:port`, an address, or a port alone; of this machine only. */
const ollamaPort = (host = ''): readonly number[] => {
  const text = host.trim();
  const address = text.includes('://') ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`;
  if (text === '' || !URL.canParse(address) || reachOf(address) !== 'loopback') return [];
  const port = Number(new URL(address).port);
  return port > 0 ? [port] : [];
};
