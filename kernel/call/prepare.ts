/** A call before it runs: offered, parsed, rewritten by taps, checked. */
import type { CallBlock } from '../data.ts';
import type { GatheredAsk, GatheredBegin } from '../hooks/hook-set.ts';
import type { StepContext, ToolCall, ToolResult } from '../hooks/subjects.ts';
import { canonicalPath } from '../paths.ts';
import type { Tool } from '../plugin.ts';
import type { Session } from '../session/session.ts';
import { checkArguments, parseArguments, type Parsed } from './arguments.ts';
import type { ToolOffer } from './offer.ts';
import { fault, refused, unknownTool } from './outcome.ts';

/** What taps get, and where votes to ask are gathered. */
export type Draft = ToolCall & { readonly asks: GatheredAsk[]; readonly begins: GatheredBegin[] };

/** Ready to be judged and run. */
export interface Ready {
  readonly tool: Tool;
  /** The plugin that brought the tool. */
  readonly from: string;
  readonly draft: Draft;
}
export type Prepared = {
  readonly block: CallBlock;
  /** Of the tool that is really meant: what rules, hooks and events see. */
  readonly name: string;
  /** Arguments as events show them: the object, or the raw text when it was none. */
  readonly shown: unknown;
  /** Whether other readers may run beside it. */
  readonly overlaps: boolean;
} & ({ readonly refused: ToolResult } | Ready);

type Problem = Exclude<Parsed, { input: unknown }>;

export const prepare = async (session: Session, at: StepContext, block: CallBlock, offer: ToolOffer): Promise<Prepared> => {
  const owned = offer.find(block.tool);
  const parsed = parseArguments(block.arguments, owned?.item.repair);
  const shown = 'input' in parsed ? parsed.input : block.arguments;
  const refuse = (result: ToolResult): Prepared => ({ block, name: owned?.item.name ?? block.tool, shown, overlaps: true, refused: result });
  if (!owned) return refuse(unknownTool(offer, block.tool));
  if (!('input' in parsed)) return refuse(refused(parsed));
  const { from } = owned;
  try {
    const resolved = await resolve(owned.item, parsed.input);
    if (!('tool' in resolved)) return refuse(refused(resolved));
    const { tool, checked } = resolved;
    const isInner = tool !== owned.item;
    const first = await draftOf(session, at, block, tool, checked);
    const changed = await session.hooks.waterfall('call', first, undefined);
    if (changed.input === first.input)
      return { block, name: tool.name, shown: isInner ? checked : shown, overlaps: overlaps(tool, first), tool, from, draft: first };
    // What a tap wrote is held to the same schema, and its paths and effect are its own.
    const again = await checkArguments(tool, changed.input);
    if (!('input' in again)) return refuse(refused(again));
    const draft = await draftOf(session, at, block, tool, again.input);
    return { block, name: tool.name, shown: again.input, overlaps: overlaps(tool, draft), tool, from, draft };
  } catch (error) {
    return refuse(fault(at.signal, error));
  }
};

/** The tool that is really meant, with arguments that fit it. */
const resolve = async (tool: Tool, input: Readonly<Record<string, unknown>>): Promise<{ tool: Tool; checked: Readonly<Record<string, unknown>> } | Problem> => {
  const checked = await checkArguments(tool, input);
  if (!('input' in checked)) return checked;
  const inner = tool.resolve(checked.input as never);
  return inner ? resolve(inner.tool, inner.input as Record<string, unknown>) : { tool, checked: checked.input };
};

const overlaps = (tool: Tool, draft: Draft): boolean => draft.effect === 'read' && !tool.exclusive;

/** The call as it would be with another input. */
export const redrafted = (session: Session, draft: Draft, tool: Tool, input: object): Promise<Draft> =>
  draftOf(session, draft, draft, tool, input as Readonly<Record<string, unknown>>);

const draftOf = async (
  session: Session,
  at: StepContext,
  { id }: Pick<CallBlock, 'id'>,
  tool: Tool,
  input: Readonly<Record<string, unknown>>,
): Promise<Draft> => ({
  ...at,
  id,
  tool: tool.name,
  effect: tool.effectOf(input as never),
  // A later gate must not change what an earlier one has approved.
  input: frozen(input),
  cwd: session.cwd,
  paths: await Promise.all(tool.paths(input as never).map((path) => canonicalPath(path, session.cwd))),
  progress: (text) => session.emit('tool.progress', { id, text }),
  asks: [],
  begins: [],
});

const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
};
