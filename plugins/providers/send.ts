/** Sends a request, and again in another form where a refusal says what the host wants otherwise. */
import { type Clock, isProviderError, type ModelInfo, type ModelRequest, type ProviderConfig } from '../../kernel/index.ts';
import { dialectOf } from './dialects/dialect.ts';
import { classifyConnection, classifyRefusal } from './failures/classify.ts';
import { roomFor } from './failures/room.ts';
import { HttpError, post } from './post.ts';
import { learn, type Learnt, leaveOut, type Quirks, quirksOf, remember } from './quirks.ts';
import type { Target } from './target.ts';
import type { Wire } from './wire.ts';

/** How often a request is changed for one refusal after another. */
const MAX_CHANGES = 4;

export interface SendParts {
  readonly name: string;
  readonly config: ProviderConfig;
  readonly wire: Wire;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** What was learnt about the models of hosts. */
  readonly learnt: Learnt;
  /** Tokens that the reply of a model may have at most, where a host has said so, by base URL and model. */
  readonly outputCaps: Map<string, number>;
  /** What is known of a model. */
  readonly info?: (model: string) => ModelInfo | undefined;
}

export const send = async (parts: SendParts, target: Target, request: ModelRequest, signal: AbortSignal): Promise<Response> => {
  const { wire, fetch, clock, learnt } = parts;
  const { baseUrl, address, headers } = target;
  const place = { ...target.place, model: request.model };
  const bodyFor = bodies(parts, target, request.model);
  const known = quirksOf(learnt, baseUrl, request.model);
  const first = withinCap(request, parts.outputCaps.get(capKey(baseUrl, request)));
  let [quirks, asked] = [known, first];
  let body = bodyFor(asked, quirks);
  for (let change = 0; ; change++) {
    try {
      const answer = await post({ wire, address, headers, body, fetch, signal, clock });
      // Only now it is sure that the refusal was read rightly.
      if (quirks !== known) remember(learnt, baseUrl, request.model, quirks);
      return answer;
    } catch (error) {
      if (!(error instanceof HttpError)) throw isProviderError(error) ? error : classifyConnection(error, place);
      quirks = learn(quirks, error.status, error.body, body);
      // Once: what is refused again is too long in another way.
      if (asked === first) asked = withRoom(parts, baseUrl, asked, error.body);
      const changed = bodyFor(asked, quirks);
      if (change === MAX_CHANGES || JSON.stringify(changed) === JSON.stringify(body)) throw classifyRefusal(error, place);
      body = changed;
    }
  }
};

const bodies = (
  { wire, name, config, info }: SendParts,
  { baseUrl, hostname: host }: Target,
  model: string,
): ((asked: ModelRequest, quirks: Quirks) => object) => {
  const traits = {
    provider: name,
    host,
    dialect: dialectOf(baseUrl, model, config.dialect),
    info: info?.(model) ?? configured(config, model),
    settings: config,
  };
  return (asked, quirks) => leaveOut(wire.body(asked, { ...traits, quirks }), quirks.without);
};
const configured = ({ models = {} }: ProviderConfig, model: string): ModelInfo | undefined =>
  Object.hasOwn(models, model) ? { id: model, ...models[model] } : undefined;

/** Asks for a shorter reply where the refusal says that it would fit; the same request where not. */
const withRoom = ({ outputCaps }: SendParts, baseUrl: string, request: ModelRequest, refusal: string): ModelRequest => {
  const room = roomFor(refusal, request.maxOutputTokens);
  if (!room) return request;
  if (room.isCap) outputCaps.set(capKey(baseUrl, request), room.tokens);
  return { ...request, maxOutputTokens: room.tokens };
};
const withinCap = (request: ModelRequest, cap = Infinity): ModelRequest =>
  (request.maxOutputTokens ?? Infinity) > cap ? { ...request, maxOutputTokens: cap } : request;
const capKey = (baseUrl: string, { model }: ModelRequest): string => `${baseUrl} ${model}`;
