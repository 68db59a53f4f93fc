/** Tables and code as Markdown. Each cell is looked at once: what packages bring for it takes time by the square of the rows. */
import type TurndownService from 'turndown';
import type { TreeElement } from './dom.ts';

type Rule = Parameters<TurndownService['addRule']>[1];
/** Turndown declares its nodes with types of the browser, which are not known here. */
const rule = (filter: (node: TreeElement) => boolean, replacement: (content: string, node: TreeElement) => string): Rule =>
  ({ filter, replacement }) as unknown as Rule;

export const addTableRules = (turndown: TurndownService): void => {
  turndown.addRule(
    'cell',
    rule(isCell, (content, cell) => (isLayout(cell) ? `${content.trim()} ` : ` ${inCell(content)} |`)),
  );
  turndown.addRule(
    'row',
    rule(named('tr'), (content, row) => (content.trim() === '' ? '' : isLayout(row) ? `\n\n${content.trim()}\n\n` : lineOf(content, row))),
  );
  turndown.addRule(
    'rows',
    rule(named('thead', 'tbody', 'tfoot'), (content) => content),
  );
  turndown.addRule(
    'caption',
    rule(named('caption'), (content) => `${content.trim()}\n\n`),
  );
  turndown.addRule(
    'table',
    rule(named('table'), (content) => `\n\n${content.trim()}\n\n`),
  );
};
const named =
  (...names: readonly string[]) =>
  ({ localName }: TreeElement): boolean =>
    names.includes(localName);
const isCell = named('td', 'th');
const inCell = (content: string): string => content.trim().replace(/\s+/g, ' ').replace(/\|/g, '\\|');
const lineOf = (content: string, row: TreeElement): string => `\n|${content}${isFirst(row) ? separatorFor(content) : ''}`;

/** Marks tables that only put things side by side, as old pages do: what is in them does not fit into cells of Markdown. */
export const markLayout = (tree: TreeElement): void => {
  for (const table of tree.querySelectorAll('table')) {
    const isData = table.querySelector('td + td, th + td, th + th, td + th') && !table.querySelector('table, pre, h1, h2, h3, h4');
    if (!isData) table.setAttribute('role', LAYOUT);
  }
};
const LAYOUT = 'presentation';
const isLayout = (part: TreeElement): boolean => {
  let at: TreeElement | null = part;
  while (at && at.localName !== 'table') at = at.parentNode;
  return at?.getAttribute('role') === LAYOUT;
};

/** Markdown knows no table without a head: the first row is it. */
const isFirst = (row: TreeElement): boolean => {
  if (row.previousElementSibling && row.previousElementSibling.localName === 'tr') return false;
  const group = row.parentNode;
  if (!group || group.localName === 'table') return !row.previousElementSibling || row.previousElementSibling.localName === 'caption';
  const before = group.previousElementSibling;
  return !before || before.localName === 'caption' || before.localName === 'colgroup';
};
const separatorFor = (row: string): string => `\n|${' --- |'.repeat(row.split(/(?<!\\)\|/).length - 1)}`;

export const addCodeRule = (turndown: TurndownService): void => {
  turndown.addRule(
    'preformatted',
    rule(named('pre'), (_, pre) => {
      const code = (pre.textContent ?? '').replace(/^\n/, '').trimEnd();
      const longest = Math.max(2, ...Array.from(code.matchAll(/^`{3,}/gm), ([run]) => run.length));
      const fence = '`'.repeat(longest + 1);
      return `\n\n${fence}${languageOf(pre)}\n${code}\n${fence}\n\n`;
    }),
  );
};
const languageOf = (pre: TreeElement): string => {
  const classes = [pre, pre.firstElementChild, pre.parentNode].map((each) => each?.className ?? '').join(' ');
  return /(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,30})/.exec(classes)?.[1] ?? '';
};
