/** The level of reasoning that a flag asked for stays with its session, as its model does, until another one is chosen. */
import { checkedBy, type ModelRequest, type Scope } from '../../kernel/index.ts';

interface Level {
  readonly provider: string;
  readonly model: string;
  readonly level: string;
}
const isLevel = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && ['provider', 'model', 'level'].every((key) => typeof (value as Record<string, unknown>)[key] === 'string');
const LEVEL = checkedBy<{ readonly level: Level | null }>('a level of reasoning or null', ({ level }) => level === null || isLevel(level));

export interface SessionLevel {
  /** What the request is to ask for in its place. */
  apply(request: ModelRequest): Promise<{ readonly reasoning: string } | undefined>;
  /** Somebody chose another one. */
  forget(): Promise<void>;
}

export const createSessionLevel = ({ state, config }: Pick<Scope<unknown, never>, 'state' | 'config'>): SessionLevel => {
  const kept = state<Level | null, typeof LEVEL>({ name: 'level', data: LEVEL, initial: null, fold: (_, { level }) => level });
  return {
    async apply({ purpose, provider, model, reasoning }) {
      if (purpose !== 'main') return undefined;
      const known = kept.value?.provider === provider && kept.value.model === model ? kept.value.level : undefined;
      if (config.origin('reasoning')?.layer !== 'flags') return known === undefined ? undefined : { reasoning: known };
      if (reasoning !== undefined && reasoning !== known) await kept.record({ level: { provider, model, level: reasoning } });
      return undefined;
    },
    async forget() {
      if (kept.value) await kept.record({ level: null });
    },
  };
};
