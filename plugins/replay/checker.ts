/** Plays a recorded session against the plugins of today. Nothing reaches the world: no provider, no body of a tool, no person. */
import {
  CastError,
  type Answer,
  type Boundary,
  type BoundaryPower,
  type ChildEnd,
  type ChildOrder,
  type Clock,
  type Question,
  type RunningCall,
  type ToolResult,
} from '../../kernel/index.ts';
import type { Observer } from './observer.ts';
import { createPlayer, type Player } from './player.ts';
import type { RecordedCall, RecordedInput, WholeRecording } from './recording.ts';
import { firstDifference, type Difference } from './trace.ts';

export interface CheckerParts {
  readonly recording: WholeRecording;
  readonly observer: Observer;
  readonly power: BoundaryPower;
  readonly clock: Clock;
  readonly keepsDelays: boolean;
}
export interface Outcome {
  /** Undefined when all is the same. */
  readonly difference?: Difference;
  /** Plugins that are not as they were, in words. */
  readonly plugins: readonly string[];
  readonly compared: number;
}

export class Checker {
  readonly #at: CheckerParts;
  readonly #player: Player;
  readonly #calls: Map<string, RecordedCall>;
  readonly #steered: readonly RecordedInput[];
  #brought = 0;
  #answered = 0;
  #worked = 0;

  constructor(parts: CheckerParts) {
    this.#at = parts;
    const { recording, clock, keepsDelays, power } = parts;
    const abort = (): void => power.abort('the recorded turn was stopped here');
    this.#player = createPlayer(recording, { clock, keepsDelays, abort, isStrict: true });
    this.#calls = new Map(recording.session.calls.map((call) => [keyOf(call), call]));
    this.#steered = recording.session.inputs.filter(({ isRunning }) => isRunning);
  }

  readonly boundary: Boundary = {
    stream: (request, at) => {
      this.#at.observer.requested(request, at);
      return this.#replied(request.purpose, at.signal);
    },
    run: (call) => {
      this.#at.observer.called(call);
      return this.#answer(call);
    },
    answer: async (question) => {
      this.#at.observer.asked(question);
      return this.#person(question);
    },
    child: async (order, signal) => this.#child(order, signal),
    tapped: (outcome) => this.#at.observer.tapped(outcome),
  };

  outcome(): Outcome {
    const { observer, recording, power } = this.#at;
    const { trace, cast } = recording.session;
    const difference = firstDifference(trace, observer.trace.events);
    return { ...(difference ? { difference } : {}), plugins: changes(cast.plugins, power.plugins()), compared: trace.length };
  }

  async *#replied(...[purpose, signal]: Parameters<Player['play']>): ReturnType<Player['play']> {
    for await (const delta of this.#player.play(purpose, signal)) {
      // Before the end, so that it is there for the next step.
      if (delta.type === 'end' && purpose === 'main') this.#bring();
      yield delta;
    }
  }
  #bring(): void {
    for (let next = this.#steered[this.#brought]; next && next.after <= this.#at.observer.replies; next = this.#steered[this.#brought]) {
      this.#brought += 1;
      const { text, source, origin, images } = next;
      this.#at.power.bring({ text, source, origin, ...(images ? { images } : {}) });
    }
  }

  async #answer(call: RunningCall): Promise<string | Partial<ToolResult>> {
    const recorded = this.#calls.get(keyOf(call));
    if (recorded?.tool !== call.tool)
      return { status: 'error', content: 'The recording has no result of this call.', error: { code: 'UNAVAILABLE', retryable: false } };
    const { clock, keepsDelays, power } = this.#at;
    if (keepsDelays) await clock.sleep(recorded.afterMs, call.signal);
    if (recorded.entries) await power.append(recorded.entries);
    for (const used of recorded.usage ?? []) power.used(used);
    if (recorded.answer !== undefined) return recorded.answer;
    power.abort('the recorded turn was stopped here');
    call.signal.throwIfAborted();
    return '';
  }

  /** In the order of the orders; those of calls are in the calls' answers. */
  #child({ label, prompt }: ChildOrder, signal: AbortSignal): ChildEnd {
    const { recording, power } = this.#at;
    const recorded = recording.session.children?.[this.#worked];
    this.#worked += 1;
    if (recorded?.label !== label || recorded.prompt !== prompt)
      throw new CastError('REPLAY_INVALID', `the recording has no child session ${label} with this prompt here`, {
        fix: 'The conversation differs from the recorded one; record it again.',
      });
    for (const used of recorded.usage) power.used(used);
    if (recorded.end) return recorded.end;
    power.abort('the recorded turn was stopped here');
    signal.throwIfAborted();
    throw new CastError('REPLAY_INVALID', `the child session ${label} has no end in the recording`);
  }

  /** The answers are in the order of the questions. */
  #person({ text }: Question): Answer {
    const recorded = this.#at.recording.session.answers[this.#answered];
    this.#answered += 1;
    return recorded?.text === text ? recorded.answer : { choice: 'reject', by: 'nobody' };
  }
}

const keyOf = ({ turn, step, id }: Pick<RecordedCall, 'turn' | 'step' | 'id'>): string => `${turn} ${step} ${id}`;

type Plugins = WholeRecording['session']['cast']['plugins'];
const changes = (recorded: Plugins, present: Plugins): readonly string[] => {
  const then = new Map(recorded.map((plugin) => [plugin.name, plugin]));
  const now = new Map(present.map((plugin) => [plugin.name, plugin]));
  const isOn = ({ state }: Plugins[number]): boolean => state === 'active' || state === 'waiting';
  return [...new Set([...then.keys(), ...now.keys()])].flatMap((name) => {
    const [before, after] = [then.get(name), now.get(name)];
    // It is what replays.
    if (name === 'replay') return [];
    if (!before) return after && isOn(after) ? [`${name} ${after.version} is new`] : [];
    if (!after) return isOn(before) ? [`${name} ${before.version} is gone`] : [];
    if (isOn(before) !== isOn(after)) return [`${name} was ${before.state}, now it is ${after.state}`];
    return before.version === after.version ? [] : [`${name} was ${before.version}, now it is ${after.version}`];
  });
};
