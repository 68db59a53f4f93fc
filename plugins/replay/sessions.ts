/** A session that is recorded, or compared with a recording. A renewal goes on with what was begun. */
import type { Boundary, TurnEnd } from '../../kernel/index.ts';
import { Checker, type Outcome } from './checker.ts';
import type { ReplayScope } from './index.ts';
import { Observer } from './observer.ts';
import { Recorder } from './recorder.ts';
import { readWholeRecording } from './recording.ts';
import { plainConfig, writeRecording } from './write.ts';

export interface Watching {
  readonly boundary: Boundary;
  ended(end: TurnEnd): Promise<void>;
  outcome(): Outcome | undefined;
}

export const startRecording = async (scope: ReplayScope, given: string): Promise<Watching> => {
  const { powers, session, clock, config, registries } = scope;
  const { boundary } = powers;
  const file = await powers.fs.canonical(given, session.cwd);
  const { recorder, observer, startedAt } = scope.host.pool(`recording of ${session.id}`, () => {
    const made = observerFor(scope);
    return { observer: made, recorder: new Recorder({ observer: made, clock, redact: (value) => boundary.redact(value) }), startedAt: clock.now() };
  });
  follow(scope, observer);
  scope.events.on('usage', (usage) => recorder.used(usage));
  const { id, cwd, root } = session;
  return {
    boundary: recorder.boundary,
    ended: async (end) => {
      observer.ended(end);
      const facts = { cast: { plugins: boundary.plugins() }, id, startedAt, cwd, root, config: boundary.redact(plainConfig(config.value)) };
      const recording = recorder.recording(facts, (provider, model) => registries.providers.get(provider)?.info?.(model));
      if (!recording || !(await writeRecording(file, recording)))
        scope.warn(`This session is too large to be recorded: ${given} has been left as it was.`, 'RECORDING_TOO_LARGE');
    },
    outcome: () => undefined,
  };
};

export const startChecking = async (scope: ReplayScope, given: string): Promise<Watching> => {
  const { powers, session, clock, options, registries } = scope;
  const recording = await readWholeRecording(await powers.fs.canonical(given, session.cwd));
  const { checker, observer } = scope.host.pool(`check of ${session.id}`, () => {
    const made = observerFor(scope);
    return { observer: made, checker: new Checker({ recording, observer: made, power: powers.boundary, clock, keepsDelays: options.delays }) };
  });
  // Providers that are not configured here: nobody is asked anyway.
  for (const name of new Set(recording.session.models.map(({ provider }) => provider))) {
    if (registries.providers.get(name)) continue;
    const info = (model: string) => recording.session.models.find((each) => each.provider === name && each.id === model);
    registries.providers.add({ name, info, stream: () => nobody(name) });
  }
  follow(scope, observer);
  return { boundary: checker.boundary, ended: async (end) => observer.ended(end), outcome: () => checker.outcome() };
};

const observerFor = ({ home, powers, registries }: ReplayScope): Observer =>
  new Observer({
    home,
    redact: (value) => powers.boundary.redact(value),
    ownerOf: (tool) => registries.tools.list().find(({ name }) => name === tool)?.from ?? '',
  });

const follow = ({ events }: ReplayScope, observer: Observer): void => {
  events.on('reply.accepted', ({ message }) => observer.replied(message));
  events.on('tap.fault', (fault) => observer.failed(fault));
};

const nobody = (name: string): never => {
  throw new Error(`nobody is asked while ${name} is replayed`);
};
