/** Watches what reaches the boundary of a session. Recording and checking see the same with it. */
import type { Message, ModelRequest, Place, Question, RunningCall, TapOutcome, TurnEnd } from '../../kernel/index.ts';
import { Trace } from './trace.ts';

/** Its children are started by bodies of tools, which do not run again. */
const UNSEEN: ReadonlySet<string> = new Set(['spawn']);

export interface ObserverParts {
  readonly home: string;
  readonly redact: <T>(value: T) => T;
  readonly ownerOf: (tool: string) => string;
}

export class Observer {
  readonly trace: Trace;
  #turn = 0;
  #step = 0;
  /** Main requests so far. */
  replies = 0;
  /** Place of each call in its reply. */
  #orders = new Map<string, number>();
  readonly #at: ObserverParts;

  constructor(parts: ObserverParts) {
    this.#at = parts;
    this.trace = new Trace(parts.home);
  }

  requested(request: ModelRequest, { turn = this.#turn, step = 0 }: Place): void {
    this.#turn = turn;
    this.#step = step;
    if (request.purpose === 'main') this.replies += 1;
    // The system text tells of the machine as well; what plugins made of it is in the outcomes of `prompt`.
    const { purpose, provider, model, tools, messages } = request;
    const shown = { model, tools: tools.map(({ name }) => name), messages: messages.map(digestible) };
    this.#add({ hook: 'provider', plugin: provider, label: purpose }, shown);
  }
  replied({ blocks }: Message): void {
    this.#orders = new Map(blocks.flatMap((block) => (block.type === 'call' ? [block.id] : [])).map((id, index) => [id, index]));
  }
  called({ id, tool, input }: RunningCall): void {
    this.#add({ hook: 'tool', plugin: this.#at.ownerOf(tool), label: tool, call: id }, input);
  }
  asked({ kind, text, call }: Question): void {
    this.#add({ hook: 'person', plugin: '', label: kind, ...(call ? { call: call.id } : {}) }, text);
  }
  tapped({ hook, plugin, label, turn = this.#turn, step = 0, call, outcome, within }: TapOutcome): void {
    if (UNSEEN.has(hook) || within === 'tool' || within === 'command') return;
    this.#turn = turn;
    this.#step = step;
    this.#add({ hook, plugin, label, ...(call === undefined ? {} : { call }) }, outcome);
  }
  failed({ hook, plugin, label, message }: { readonly hook: string; readonly plugin: string; readonly label: string; readonly message: string }): void {
    this.#add({ hook, plugin, label }, { fault: message });
  }
  ended({ reason, code }: TurnEnd): void {
    this.#add({ hook: 'turn', plugin: '', label: 'end' }, { reason, code });
  }

  #add(event: { readonly hook: string; readonly plugin: string; readonly label: string; readonly call?: string }, value: unknown): void {
    const order = event.call === undefined ? undefined : this.#orders.get(event.call);
    this.trace.add({ turn: this.#turn, step: this.#step, ...event, ...(order === undefined ? {} : { order }) }, this.#at.redact(value));
  }
}

/** Ids and counts of the view are the kernel's own. */
const digestible = ({ role, origin, blocks }: Message): object => ({ role, origin, blocks });
