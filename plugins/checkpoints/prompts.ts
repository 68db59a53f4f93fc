/** The earlier prompts of a branch. */
import type { Entry, SessionFace } from '../../kernel/index.ts';
import { LIMITS } from './limits.ts';

export interface Prompt {
  readonly turn: number;
  readonly text: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** Newest first. What a plugin or the kernel put in is no prompt. */
export async function* promptsOf(session: SessionFace): AsyncGenerator<Prompt> {
  let prompt: Extract<Entry, { kind: 'message' }> | undefined;
  for await (const entry of wayBack(session)) {
    if (entry.kind === 'message' && entry.data.role === 'user' && entry.data.reminder !== true && entry.data.origin === 'user') prompt = entry;
    if (entry.kind !== 'turn' || entry.data.phase !== 'start') continue;
    if (prompt) yield { turn: entry.data.turn, text: textOf(prompt), at: prompt.at };
    prompt = undefined;
  }
}

const textOf = (entry: Extract<Entry, { kind: 'message' }>): string =>
  entry.data.blocks.map((block) => (block.type === 'text' ? block.text : block.type === 'image' ? '[image]' : '')).join(' ');

/** The store has entries of every branch, and knows of each which one it follows. */
async function* wayBack(session: SessionFace): AsyncGenerator<Entry> {
  let wanted = session.tail(1)[0]?.id ?? null;
  let before: number | undefined;
  for (let read = 0; wanted !== null && read < LIMITS.entries; read += LIMITS.page) {
    const page = await session.read({ limit: LIMITS.page, ...(before === undefined ? {} : { before }) });
    for (const entry of page) {
      if (entry.id !== wanted) continue;
      wanted = entry.parent;
      yield entry;
    }
    const last = page.at(-1);
    if (!last || page.length < LIMITS.page) return;
    before = last.seq;
  }
}
