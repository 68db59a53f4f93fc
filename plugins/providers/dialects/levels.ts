/** Which level of reasoning a request asks for, of those that a model knows. */
import type { ModelInfo } from '../../../kernel/index.ts';

export type KnownLevels = NonNullable<ModelInfo['reasoning']>;

/** Of a dialect, for models of which nothing is known. */
export interface DialectLevels {
  readonly levels: readonly string[];
  /** What `max` means. */
  readonly top: string;
}

/** Undefined: nothing is said about reasoning, so the model does as it does by default. */
export const levelFor = (wanted: string | undefined, known: KnownLevels | undefined, dialect: DialectLevels): string | undefined => {
  if (wanted === undefined) return undefined;
  if (known) return amongKnown(wanted, known);
  // Levels of a provider's own pass where efforts have names; where there is only a switch they turn it on.
  const { levels, top } = dialect;
  if (wanted === 'max') return top;
  if (levels.includes(wanted)) return wanted;
  if (wanted === 'off') return undefined;
  return levels.includes('on') ? 'on' : wanted;
};

const amongKnown = (wanted: string, { levels, default: usual }: KnownLevels): string | undefined => {
  if (levels.length === 0) return undefined;
  if (levels.includes(wanted)) return wanted;
  if (wanted === 'max') return levels.at(-1);
  return wanted !== 'off' && levels.includes('on') ? 'on' : usual;
};
