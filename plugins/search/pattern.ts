import { invalidPattern } from './answering.ts';

const CLASSES: Readonly<Record<string, string>> = {
  alpha: 'A-Za-z',
  digit: '0-9',
  alnum: 'A-Za-z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  punct: '!-\\/:-@\\[-`{-~',
  xdigit: '0-9A-Fa-f',
  word: '\\w',
};

/** The pattern as ripgrep would read it, as far as JavaScript can. Throws a refusal when it is not valid. */
export const toRegExp = (pattern: string, how: { readonly literal: boolean; readonly ignoreCase: boolean }): RegExp => {
  const [, inline = '', rest = pattern] = how.literal ? [] : (/^\(\?([ims]+)\)([^]*)$/.exec(pattern) ?? []);
  const source = how.literal ? pattern.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&') : translated(rest);
  const flags = [...new Set(`${how.ignoreCase ? 'i' : ''}${inline}`)].join('');
  try {
    return new RegExp(source, how.literal ? flags : `${flags}u`);
  } catch {
    return withoutUnicode(source, flags);
  }
};

// Unicode mode refuses escapes that mean nothing, such as `\-` or `\"`, which people write.
const withoutUnicode = (source: string, flags: string): RegExp => {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw invalidPattern(error instanceof Error ? error.message : String(error));
  }
};

const translated = (pattern: string): string =>
  pattern
    .replace(/\[:(\w+):\]/g, (all, name: string) => CLASSES[name] ?? all)
    .replaceAll('(?P<', '(?<')
    .replaceAll('\\A', '^')
    .replace(/\\[zZ]/g, '$');
