import type { Clock, Powers } from '../../kernel/index.ts';
import type { SearchCache } from './cache.ts';

export type Service = 'jina' | 'ddg' | 'tavily' | 'brave';
export interface WebOptions {
  readonly fetch: 'local' | 'jina';
  readonly search: 'ddg' | 'tavily' | 'brave';
  readonly allow: readonly string[];
  readonly timeoutMs: number;
  /** In place of the public ones. */
  readonly endpoints: { readonly [S in Service]?: string };
}
/** What the two tools share within a session. */
export interface Desk {
  readonly options: WebOptions;
  readonly net: Powers['net'];
  readonly secrets: Pick<Powers['secrets'], 'get'>;
  readonly clock: Clock;
  readonly cache: SearchCache;
}
