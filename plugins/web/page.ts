/** A page as Markdown or text. Runs in a thread of its own: pages are made by anybody, and some are made to take for ever. */
import { isProbablyReaderable, Readability } from '@mozilla/readability';
import TurndownService from 'turndown';
import { type Tree, type TreeElement, treeOf } from './dom.ts';
import { LIMITS } from './limits.ts';
import { plainText } from './plain.ts';
import { addCodeRule, addTableRules, markLayout } from './tables.ts';

export interface PageInput {
  readonly html: string;
  /** Where it came from, for its links. */
  readonly url: string;
  readonly format: 'markdown' | 'text';
}
export interface PageOutput {
  readonly title: string;
  readonly text: string;
  /** Some of the page was too much. */
  readonly isCut: boolean;
}

/** Share of a page's text below which what was found is a part of its content, not its content. */
const LEAST_SHARE = 1 / 3;

export const convertPage = ({ html, url, format }: PageInput): PageOutput => {
  const isCut = html.length > LIMITS.htmlChars;
  const source = isCut ? html.slice(0, LIMITS.htmlChars) : html;
  const tree = treeOf(source);
  const title = titleOf(tree);
  clean(tree, url);
  const content = mainOf(source, url, tree) ?? tree.body;
  dropTitle(content, title);
  const text = format === 'text' ? plainText(content.outerHTML).text : markdownOf(content);
  return { title, text, isCut };
};

const titleOf = (tree: Tree): string =>
  (tree.querySelector('title')?.textContent ?? tree.querySelector('meta[property="og:title"]')?.getAttribute('content') ?? '').replace(/\s+/g, ' ').trim();

// ---- what is left out ----

const JUNK =
  'script, style, noscript, title, head, nav, footer, template, iframe, object, embed, svg, canvas, button, input, select, dialog, [hidden], [aria-hidden="true"]';

const clean = (tree: Tree, url: string): void => {
  const base = absolute(tree.querySelector('base')?.getAttribute('href'), url) ?? url;
  for (const element of tree.querySelectorAll(JUNK)) element.remove();
  for (const link of tree.querySelectorAll('a[href]')) complete(link, base);
  for (const image of tree.querySelectorAll('img')) {
    const source = absolute(image.getAttribute('src'), base);
    if (source === undefined || !image.getAttribute('alt')) image.remove();
    else image.setAttribute('src', source);
  }
  markLayout(tree);
};
const complete = (link: TreeElement, base: string): void => {
  if (isBlank(link) && !link.querySelector('img[alt]')) return link.remove();
  const href = link.getAttribute('href');
  const target = href?.startsWith('#') ? undefined : absolute(href, base);
  if (target === undefined) link.removeAttribute('href');
  else link.setAttribute('href', target);
};
const isBlank = ({ textContent }: TreeElement): boolean => (textContent ?? '').trim() === '';
/** Undefined for what leads nowhere: scripts and data in an address. */
const absolute = (href: string | null | undefined, base: string): string | undefined => {
  if (!href || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return /^(?:https?|mailto|ftp):$/.test(url.protocol) ? url.href : undefined;
};

// ---- what is kept ----

/** The main content, where the page is an article. Found in a second tree, since the search takes apart what it looks at. */
const mainOf = (source: string, url: string, whole: Tree): TreeElement | undefined => {
  if (whole.getElementsByTagName('*').length > LIMITS.articleElements || !isProbablyReaderable(whole as never)) return undefined;
  const tree = treeOf(source);
  clean(tree, url);
  const article = new Readability(tree as never, { serializer: (node) => node }).parse();
  const content = article?.content as TreeElement | null | undefined;
  if (!content) return undefined;
  return lengthOf(content) < LEAST_SHARE * lengthOf(whole.body) ? undefined : content;
};
const lengthOf = ({ textContent }: TreeElement): number => (textContent ?? '').replace(/\s+/g, ' ').length;

/** The result says it already. */
const dropTitle = (content: TreeElement, title: string): void => {
  const heading = content.querySelector('h1');
  if (heading && (heading.textContent ?? '').replace(/\s+/g, ' ').trim() === title) heading.remove();
};

const markdownOf = (content: TreeElement): string => {
  const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' });
  addTableRules(turndown);
  addCodeRule(turndown);
  return turndown
    .turndown(content as never)
    .replace(/\n{3,}/g, '\n\n')
    .trim();
};
