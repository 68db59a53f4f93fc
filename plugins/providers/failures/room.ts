/** How long a reply may be instead, where a host refuses a request because of the length that it asks for. */
import { readErrorBody } from './error-body.ts';

/** Tokens that are asked for by nobody: hosts count a prompt in more than one way. */
const MARGIN = 1_024;
/** Tokens below which there is no answer worth asking for. */
const LEAST = 256;

/** What a refusal says, in tokens. `most`: of a reply by itself, whatever the prompt. */
type Said = { readonly limit: number; readonly input: number; readonly output: number } | { readonly most: number };

export interface Room {
  /** Tokens to ask for. */
  readonly tokens: number;
  /** The model never gives more, whatever the prompt. */
  readonly isCap: boolean;
}

/**
 * Undefined when a shorter reply would not help, and the prompt has to become smaller. `asked` is undefined where the request
 * named no limit.
 */
export const roomFor = (body: string, asked: number | undefined): Room | undefined => {
  const said = readSaid(readErrorBody(body).said.toLowerCase());
  if (!said) return undefined;
  const requested = asked ?? ('output' in said ? said.output : Infinity);
  const isCap = 'most' in said;
  const tokens = isCap ? said.most : said.limit - said.input - MARGIN;
  return tokens >= LEAST && tokens < requested ? { tokens, isCap } : undefined;
};

const N = '(\\d[\\d,]*)';
const LIMIT = new RegExp(`maximum context length (?:is|of) ${N}`);
/** OpenAI, OpenRouter, vLLM and those who speak like them: parts of the request between brackets. */
const PARTS = new RegExp('requested (?:about )?[\\d,]+ tokens \\(([^)]*)\\)');
const OUTPUT_PART = new RegExp(`${N} (?:of |in )?(?:the )?(?:completion|output)`);
/** Limit, prompt, reply, in an order of its own each. */
const SUMS: readonly (readonly [
  wording: RegExp,
  order: readonly ['limit' | 'input' | 'output', 'limit' | 'input' | 'output', 'limit' | 'input' | 'output'],
])[] = [
  [new RegExp(`context limit: ${N} \\+ ${N} > ${N}`), ['input', 'output', 'limit']],
  [new RegExp(`must be <= ${N}\\. given: ${N} .inputs. tokens and ${N}`), ['limit', 'input', 'output']],
  [new RegExp(`too large: ${N}\\. this model's maximum context length is ${N} tokens and your request has ${N} input tokens`), ['output', 'limit', 'input']],
];
const MOSTS: readonly RegExp[] = [
  new RegExp(`supports at most ${N} (?:completion|output) tokens`),
  new RegExp(`max_(?:completion_)?tokens.{0,30}less than or equal to .?${N}`),
  new RegExp(`max_tokens: [\\d,]+ > ${N}`),
  new RegExp(`range of max_(?:completion_)?tokens (?:is|should be) \\[\\d+, ?${N}\\]`),
];

const readSaid = (said: string): Said | undefined => {
  for (const [wording, [first, second, third]] of SUMS) {
    const found = wording.exec(said);
    if (found) return { limit: 0, input: 0, output: 0, [first]: count(found[1]), [second]: count(found[2]), [third]: count(found[3]) };
  }
  const most = MOSTS.map((wording) => wording.exec(said)?.[1]).find((found) => found !== undefined);
  return most === undefined ? readParts(said) : { most: count(most) };
};

const readParts = (said: string): Said | undefined => {
  const [limit, parts] = [LIMIT.exec(said)?.[1], PARTS.exec(said)?.[1]];
  const output = OUTPUT_PART.exec(parts ?? '')?.[1];
  if (limit === undefined || parts === undefined || output === undefined) return undefined;
  const all = [...parts.matchAll(new RegExp(N, 'g'))].reduce((sum, [, part]) => sum + count(part), 0);
  return { limit: count(limit), input: all - count(output), output: count(output) };
};

const count = (text = ''): number => Number(text.replaceAll(',', ''));
