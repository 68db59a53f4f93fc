/** A call before it runs: offered, parsed, rewritten by taps, checked. */
import type { CallBlock } from '../data.ts';
import type { GatheredAsk } from '../hooks/hook-set.ts';
import type { StepContext, ToolCall, ToolResult } from '../hooks/subjects.ts';
import { canonicalPath } from '../paths.ts';
import type { Tool } from '../plugin.ts';
import type { Session } from '../session/session.ts';
import { checkArguments, parseArguments } from './arguments.ts';
import type { ToolOffer } from './offer.ts';
import { fault, refused, unknownTool } from './outcome.ts';

/** What taps get, and where votes to ask are gathered. */
export type Draft = ToolCall & { readonly asks: GatheredAsk[] };

/** Ready to be judged and run. */
export interface Ready {
  readonly tool: Tool;
  /** The plugin that brought the tool. */
  readonly from: string;
  readonly draft: Draft;
}
export type Prepared = {
  readonly block: CallBlock;
  /** Arguments as events show them: the object, or the raw text when it was none. */
  readonly shown: unknown;
  /** Whether other readers may run beside it. */
  readonly overlaps: boolean;
} & ({ readonly refused: ToolResult } | Ready);

export const prepare = async (session: Session, at: StepContext, block: CallBlock, offer: ToolOffer): Promise<Prepared> => {
  const parsed = parseArguments(block.arguments);
  const shown = 'input' in parsed ? parsed.input : block.arguments;
  const refuse = (result: ToolResult): Prepared => ({ block, shown, overlaps: true, refused: result });
  const owned = offer.find(block.tool);
  if (!owned) return refuse(unknownTool(offer, block.tool));
  if (!('input' in parsed)) return refuse(refused(parsed));
  const { item: tool, from } = owned;
  const checked = await checkArguments(tool, parsed.input);
  if (!('input' in checked)) return refuse(refused(checked));
  try {
    const first = await draftOf(session, at, block, tool, checked.input);
    const changed = await session.hooks.waterfall('call', first, undefined);
    if (changed.input === first.input) return { block, shown, overlaps: overlaps(tool, first), tool, from, draft: first };
    // What a tap wrote is held to the same schema, and its paths and effect are its own.
    const again = await checkArguments(tool, changed.input);
    if (!('input' in again)) return refuse(refused(again));
    const draft = await draftOf(session, at, block, tool, again.input);
    return { block, shown: again.input, overlaps: overlaps(tool, draft), tool, from, draft };
  } catch (error) {
    return refuse(fault(at.signal, error));
  }
};

const overlaps = (tool: Tool, draft: Draft): boolean => draft.effect === 'read' && !tool.exclusive;

const draftOf = async (session: Session, at: StepContext, block: CallBlock, tool: Tool, input: Readonly<Record<string, unknown>>): Promise<Draft> => ({
  ...at,
  id: block.id,
  tool: tool.name,
  effect: tool.effectOf(input as never),
  // A later gate must not change what an earlier one has approved.
  input: frozen(input),
  cwd: session.cwd,
  paths: await Promise.all(tool.paths(input as never).map((path) => canonicalPath(path, session.cwd))),
  progress: (text) => session.emit('tool.progress', { id: block.id, text }),
  asks: [],
});

const frozen = <T>(value: T): T => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
};
