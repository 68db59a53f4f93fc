/** What is sent to the model: a prefix that holds still, then the conversation. */
import { ToolOffer } from '../call/offer.ts';
import type { ModelInfo, ModelRequest } from '../data.ts';
import { asPlugin } from '../hooks/as-plugin.ts';
import type { PromptSection, Slot, StepContext } from '../hooks/subjects.ts';
import { outgoing } from '../reply/outgoing.ts';
import type { Prefix } from '../session/generation.ts';
import { limitsOf, reasoningOf, withinRoom } from '../session/models.ts';
import type { ModelRef } from '../model-ref.ts';
import type { Session } from '../session/session.ts';
import { estimateRequest } from '../tokens.ts';

const SLOTS: readonly Slot[] = ['identity', 'mode', 'conduct', 'project', 'tools', 'environment'];

export interface Assembled {
  readonly request: ModelRequest;
  readonly offer: ToolOffer;
}

export const assemble = async (session: Session, at: StepContext): Promise<Assembled> => {
  const offer = new ToolOffer(session.generation.tools.all());
  await session.hooks.settleGuards('offer', at.signal);
  session.hooks.sync('offer', offer, at);
  session.generation.prefix ??= await buildPrefix(session, at, offer);
  const messages = await session.hooks.waterfall('context', session.view(), at);
  const route = session.route('main');
  const reasoning = reasoningOf(session.generation, route);
  const draft: ModelRequest = {
    purpose: 'main',
    session: session.id,
    ...route,
    ...session.generation.prefix,
    messages,
    maxOutputTokens: limitsOf(session.generation.config.value, infoOf(session, route)).maxOutputTokens,
    ...(reasoning === undefined ? {} : { reasoning }),
  };
  return { request: fitted(session, await outgoing(session, draft, at)), offer };
};

/** Behind all taps: they may have chosen another model, or made the prompt longer. */
const fitted = (session: Session, request: ModelRequest): ModelRequest => {
  const { maxOutputTokens: wished } = request;
  if (wished === undefined) return request;
  const info = infoOf(session, request);
  const { contextWindow } = limitsOf(session.generation.config.value, info);
  const maxOutputTokens = withinRoom(wished, { contextWindow, maxOutput: info?.maxOutput, prompt: estimateRequest(request) });
  return maxOutputTokens === wished ? request : { ...request, maxOutputTokens };
};
const infoOf = ({ generation }: Session, { provider, model }: ModelRef): ModelInfo | undefined => generation.providers.get(provider)?.info?.(model);

/** Once a generation: the same sections and tools give the same bytes, in this process and after a resume. */
const buildPrefix = async (session: Session, at: StepContext, offer: ToolOffer): Promise<Prefix> => {
  const sections = session.generation.sections
    .all()
    .flatMap(({ item, from }): PromptSection[] => {
      const text = asPlugin(
        { plugin: from, where: 'section', label: item.name },
        () => item.text()?.trim(),
        (message) => {
          session.pluginFault(from, 'section', item.name, message);
          return undefined;
        },
      );
      return text === undefined || text === '' ? [] : [{ name: item.name, slot: item.slot, text, from }];
    })
    .sort((a, b) => SLOTS.indexOf(a.slot) - SLOTS.indexOf(b.slot) || compare(a.name, b.name));
  const chosen = await session.hooks.waterfall('prompt', sections, at);
  const tools = offer.tools.map((tool) => tool.card).sort((a, b) => compare(a.name, b.name));
  return { system: chosen.map((section) => section.text).join('\n\n'), tools };
};
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
