import { CastError, isCastError, messageOf, type Boundary } from '../../kernel/index.ts';

export interface LateBoundary extends Boundary {
  become(boundary: Boundary): void;
  fail(error: unknown): void;
}

/** Stands from the beginning and lets nothing pass until it is known how. */
export const lateBoundary = (): LateBoundary => {
  let real: Boundary | undefined;
  let problem: unknown = new CastError('REPLAY_INVALID', 'the recording has not been read yet');
  const ready = (): Boundary => {
    if (real) return real;
    throw isCastError(problem) ? problem : new CastError('REPLAY_INVALID', messageOf(problem), { cause: problem });
  };
  return {
    become: (boundary) => {
      real = boundary;
    },
    fail: (error) => {
      problem = error;
    },
    stream: (request, at, next) => ready().stream?.(request, at, next) ?? next(),
    run: async (call, next) => ready().run?.(call, next) ?? next(),
    answer: async (question, next) => ready().answer?.(question, next) ?? next(),
    child: async (order, signal, next) => ready().child?.(order, signal, next) ?? next(),
    brought: (...given) => real?.brought?.(...given),
    appending: (batch) => real?.appending?.(batch),
    tapped: (outcome) => real?.tapped?.(outcome),
  };
};
