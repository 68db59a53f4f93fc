/** What `/context` answers: as data, and as something to look at. */
import type { CompactionForecast, Sketch } from '../../kernel/index.ts';
import type { CacheBreak } from './cache.ts';
import type { Part } from './parts.ts';

export interface ContextReport {
  readonly session: string;
  readonly provider: string | null;
  readonly model: string;
  /** Tokens. */
  readonly window: number;
  readonly parts: readonly Part[];
  /** Estimated, of all parts together. */
  readonly tokens: number;
  /** Of the newest request, as the provider counted them; null where this process has made none. */
  readonly newest: { readonly promptTokens: number; readonly cacheReadTokens: number } | null;
  /** Prompt tokens of the newest request of the session; 0 before the first. */
  readonly contextTokens: number;
  /** What a compaction would do now; null where none is to be had. */
  readonly compaction: CompactionForecast | null;
  readonly cache: { readonly breaks: number; readonly newest: readonly CacheBreak[] };
}

export const sketchOf = (report: ContextReport): Sketch => ({
  kind: 'rows',
  rows: [
    { kind: 'text', text: headline(report) },
    {
      kind: 'table',
      head: ['what', 'from', 'tokens', 'of the window', ...(report.compaction ? ['a compaction drops'] : [])],
      rows: report.parts.map((part) => ({
        cells: [
          nameOf(part),
          part.from,
          number(part.tokens),
          share(part.tokens, report.window),
          ...(report.compaction ? [part.dropped ? number(part.dropped) : ''] : []),
        ],
      })),
    },
    ...compactionOf(report),
    ...newestOf(report),
    ...cacheOf(report),
  ],
});

const headline = ({ provider, model, tokens, window }: ContextReport): string =>
  `${provider === null ? model || 'no model' : `${provider}/${model}`}: about ${number(tokens)} of ${number(window)} tokens (${share(tokens, window)}).`;

const nameOf = ({ kind, name, count }: Part): string => (kind === 'messages' ? `${name} (${count})` : `${kind} ${name}`);

const compactionOf = ({ compaction }: ContextReport): readonly Sketch[] => {
  if (!compaction) return [];
  const { auto, limit, tokens, isMeasured, drops, droppedTokens, why } = compaction;
  const when = auto
    ? `A compaction comes by itself above ${number(limit)} tokens; there are ${isMeasured ? '' : 'about '}${number(tokens)}.`
    : 'No compaction comes by itself.';
  const what =
    drops.length === 0
      ? `Now there would be none: ${why ?? 'there is nothing to summarise'}.`
      : `It would put a summary in place of ${drops.length} ${drops.length === 1 ? 'message' : 'messages'} of about ${number(droppedTokens)} tokens.`;
  return [{ kind: 'text', text: `${when} ${what}` }];
};

const newestOf = ({ newest, contextTokens }: ContextReport): readonly Sketch[] => {
  if (contextTokens === 0 && newest === null) return [];
  const cached = newest ? `, ${number(newest.cacheReadTokens)} of them from its cache (${share(newest.cacheReadTokens, newest.promptTokens)})` : '';
  return [{ kind: 'text', text: `The provider counted ${number(newest?.promptTokens ?? contextTokens)} tokens in the newest request${cached}.` }];
};

const cacheOf = ({ cache, contextTokens }: ContextReport): readonly Sketch[] => {
  if (cache.breaks === 0)
    return contextTokens === 0 ? [] : [{ kind: 'text', text: 'Each request began with all of the one before it: the cache never broke.' }];
  const rows = cache.newest.map(({ turn, step, at, what, tokens }) => ({ cells: [`${turn}.${step}`, `${at}: ${what}`, number(tokens)] }));
  return [
    { kind: 'text', text: `The cache broke ${cache.breaks === 1 ? 'once' : `${cache.breaks} times`}:` },
    { kind: 'table', head: ['turn', 'where', 'tokens lost'], rows },
  ];
};

const number = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const share = (part: number, whole: number): string => (whole > 0 ? `${((100 * part) / whole).toFixed(1)} %` : '');
