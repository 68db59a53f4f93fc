/** How many tokens a request has, roughly: one count for whatever has to be decided before a provider says how many there were. */
import type { Block, Message, ModelRequest, ToolCard } from './data.ts';

const CHARACTERS = 4;
/** What the frame of a message takes. */
const FRAME = 4;
const IMAGE = 1_200;

/** Never far below: about four characters a token, more for scripts without spaces. */
export const estimateText = (text: string): number => Math.ceil(weigh(text) / CHARACTERS);

/** Of one message, its frame included. */
export const estimateMessage = ({ blocks }: Pick<Message, 'blocks'>): number => {
  let tokens = counted.get(blocks);
  if (tokens === undefined) {
    tokens = Math.ceil(blocks.reduce((sum, block) => sum + weightOf(block), 0) / CHARACTERS) + FRAME;
    counted.set(blocks, tokens);
  }
  return tokens;
};
// Blocks are never changed, and long conversations are counted for each request.
const counted = new WeakMap<readonly Block[], number>();

/** Of all that is sent: the system text, the tools, the messages. */
export const estimateRequest = ({ system, tools, messages }: Pick<ModelRequest, 'system' | 'tools' | 'messages'>): number =>
  messages.reduce((sum, message) => sum + estimateMessage(message), Math.ceil((weigh(system) + weighTools(tools)) / CHARACTERS));

// The same list for all requests of a generation.
const weighTools = (tools: readonly ToolCard[]): number => {
  let weight = toolWeights.get(tools);
  if (weight === undefined) {
    weight = weigh(JSON.stringify(tools));
    toolWeights.set(tools, weight);
  }
  return weight;
};
const toolWeights = new WeakMap<readonly ToolCard[], number>();

/** In characters. */
const weightOf = (block: Block): number => {
  if (block.type === 'image') return IMAGE * CHARACTERS;
  if (block.type === 'text' || block.type === 'reasoning') return weigh(block.text);
  if (block.type === 'call') return weigh(block.arguments) + block.tool.length;
  return block.type === 'result' ? weigh(block.content) : 0;
};
// Scripts written without spaces take about one token a character.
const weigh = (text: string): number => text.length + 3 * (text.match(/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/g)?.length ?? 0);
