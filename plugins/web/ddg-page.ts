/** The results in a page of DuckDuckGo. Runs in a thread, as for any page. */
import { type TreeElement, treeOf } from './dom.ts';
import type { Hit } from './hits.ts';

export interface ResultsOutput {
  readonly hits: readonly Hit[];
  /** `challenge`: it wants to be shown that a person asks. `none`: it says that nothing was found. `other`: no page that is known. */
  readonly kind: 'results' | 'none' | 'challenge' | 'other';
}

export const readResults = (html: string): ResultsOutput => {
  const tree = treeOf(html);
  if (tree.querySelector('.anomaly-modal__title, .anomaly-modal__mask, #challenge-form, form[action*="anomaly"], script[src*="anomaly"]')) {
    return { hits: [], kind: 'challenge' };
  }
  const hits = [...tree.querySelectorAll('.result')].flatMap((result) => hitIn(result) ?? []);
  if (hits.length > 0) return { hits, kind: 'results' };
  return { hits, kind: tree.querySelector('.no-results, .result--no-result') ? 'none' : 'other' };
};

const hitIn = (result: TreeElement): Hit | undefined => {
  const link = result.querySelector('a.result__a');
  const url = link ? targetOf(link.getAttribute('href') ?? '') : undefined;
  if (!link || url === undefined || /(?:^|\s)result--ad(?:\s|$)/.test(result.className)) return undefined;
  return { title: textOf(link), url, snippet: textOf(result.querySelector('.result__snippet')) };
};
const textOf = (element: TreeElement | null): string => (element?.textContent ?? '').replace(/\s+/g, ' ').trim();

const HOME = 'https://duckduckgo.com';
/** Links lead through its own host. Undefined for ads and for what is no page. */
const targetOf = (href: string): string | undefined => {
  const link = pageAt(href);
  const target = link && isOwn(link) && link.pathname.startsWith('/l/') ? pageAt(link.searchParams.get('uddg') ?? '') : link;
  return target && !(isOwn(target) && target.pathname === '/y.js') ? target.href : undefined;
};
const pageAt = (href: string): URL | undefined => {
  if (href === '' || !URL.canParse(href, HOME)) return undefined;
  const url = new URL(href, HOME);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
};
const isOwn = ({ hostname }: URL): boolean => hostname === 'duckduckgo.com' || hostname.endsWith('.duckduckgo.com');
