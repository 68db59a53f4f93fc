import { type CharSet, escaped, lineFeed, NO_NUL, PatternWrong, unknown } from './pattern-tree.ts';

export const DIGIT = '\\p{Nd}';
export const SPACE = '\\p{White_Space}';
/** As Unicode has it; JavaScript's own `\w` and `\b` know only ASCII. */
export const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

const POSIX: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7f',
  blank: '\\x09\\x20',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: '\\x09-\\x0d\\x20',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};

/** Position of a reader in a pattern; what reads moves it. */
export interface Cursor {
  readonly text: string;
  at: number;
  /** A carriage return was asked for. */
  isReturn: boolean;
  /** The first thing that only ripgrep knows. What comes behind it is read all the same: it may be wrong. */
  foreign: string | undefined;
  /** Of what was foreign, the first thing that only PCRE2 knows. */
  ofPcre: string | undefined;
  /** The first thing that PCRE2 does not know, or reads otherwise. */
  ownOnly: string | undefined;
}

export const noteForeign = (cursor: Cursor, what: string): void => {
  cursor.foreign ??= what;
};

export const notePcre = (cursor: Cursor, what: string): void => {
  noteForeign(cursor, what);
  cursor.ofPcre ??= what;
};

const take = (cursor: Cursor, form: RegExp): RegExpExecArray | undefined => {
  form.lastIndex = cursor.at;
  const found = form.exec(cursor.text);
  if (found) cursor.at += found[0].length;
  return found ?? undefined;
};

export const takeChar = (cursor: Cursor): string => {
  const char = String.fromCodePoint(cursor.text.codePointAt(cursor.at) ?? 0);
  cursor.at += char.length;
  return char;
};

/** A part of a set, or all but that part. */
export interface Member {
  readonly body: string;
  readonly isNegated: boolean;
}

/** `\d`, `\pL`, `\P{Greek}`: what they stand for, as a part of a set. */
export const takeClass = (cursor: Cursor): Member | undefined => {
  const short = take(cursor, /\\([dDsSwW])/y)?.[1];
  if (short !== undefined) {
    const lower = short.toLowerCase();
    return { body: lower === 'd' ? DIGIT : lower === 's' ? SPACE : WORD, isNegated: short !== lower };
  }
  const property = take(cursor, /\\([pP])(?:([A-Za-z])|\{(\^?)([\w \-:=]+)\})/y);
  if (!property) return undefined;
  const [, kind, letter, not, name = letter ?? ''] = property;
  if (not) noteForeign(cursor, `\\p{^${name}}`);
  return { body: propertyOf(cursor, name), isNegated: kind === 'P' };
};

/** JavaScript knows the same properties, but wants their names spelled exactly. */
const propertyOf = (cursor: Cursor, name: string): string => {
  const [, key, value = name] = /^(gc|sc|scx|General_Category|Script|Script_Extensions)[:=](.+)$/.exec(name) ?? [];
  const title = value.toLowerCase().replace(/(?:^|[_ -])[a-z]/g, (part) => part.toUpperCase());
  const forms = key === undefined ? [value, title, `Script=${value}`, `Script=${title}`] : [`${key}=${value}`, `${key}=${title}`];
  const known = forms.find((form) => isProperty(form));
  if (known === undefined) throw new PatternWrong(`\\p{${name}} is no known class of characters`);
  // Halves of characters, which ripgrep's own engine does not know.
  if (/(?:^|=)(?:Cs|Surrogate)$/.test(known)) noteForeign(cursor, `\\p{${name}}`);
  return `\\p{${known}}`;
};
const isProperty = (form: string): boolean => {
  try {
    return new RegExp(`\\p{${form}}`, 'u').unicode;
  } catch {
    return false;
  }
};

const CONTROL: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** `\t`, `\x41`, `\u{41}`, `\.`: a character that is written in another way. */
export const takeEscaped = (cursor: Cursor): string | undefined => {
  const control = take(cursor, /\\([afnrtv])/y)?.[1];
  if (control !== undefined) return CONTROL[control];
  return takeCode(cursor) ?? take(cursor, /\\([!-/:;=?@[-`{-~ ])/y)?.[1];
};

const takeCode = (cursor: Cursor): string | undefined => {
  const hex = take(cursor, /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|[xuU]\{([\dA-Fa-f]{1,8})\})/y);
  if (!hex) return undefined;
  const code = Number.parseInt(hex.slice(1).find((digits) => digits !== undefined) ?? '', 16);
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw new PatternWrong(`${hex[0]} is no character`);
  if (/^\\[uU]/.test(hex[0])) cursor.ownOnly ??= hex[0];
  return String.fromCodePoint(code);
};

/** Behind the opening bracket, to the one that closes. */
export const takeSet = (cursor: Cursor, ignoreCase: boolean): CharSet => {
  const isNegated = take(cursor, /\^/y) !== undefined;
  const members: Member[] = [];
  // As the first of them it stands for itself.
  while (members.length === 0 || !take(cursor, /\]/y)) {
    if (cursor.at >= cursor.text.length) throw new PatternWrong('a set is not closed with `]`');
    members.push(takePosix(cursor) ?? takeShort(cursor) ?? { body: takeRange(cursor), isNegated: false });
  }
  if (!isNegated) noteEnds(cursor, members);
  const bodies = (negated: boolean): readonly string[] => members.filter((member) => member.isNegated === negated).map(({ body }) => body);
  return { kind: 'set', body: bodies(false).join(''), complements: bodies(true), isNegated, ignoreCase };
};

/** Asking for one end of line or the other is not the same as not forbidding it. */
const noteEnds = (cursor: Cursor, members: readonly Member[]): void => {
  if (members.every(({ body }) => body === '\\x0a')) throw lineFeed();
  if (members.every(({ body }) => body === '\\x00')) throw new PatternWrong(NO_NUL);
  if (members.some(({ body }) => body.endsWith('\\x0d'))) cursor.isReturn = true;
};

const takePosix = (cursor: Cursor): Member | undefined => {
  const found = take(cursor, /\[:(\^?)([a-z]+):\]/y);
  if (!found) return undefined;
  const [all, not, name = ''] = found;
  const body = POSIX[name];
  if (body === undefined) throw new PatternWrong(`${all} is no class of characters`);
  return { body, isNegated: not === '^' };
};

const takeShort = (cursor: Cursor): Member | undefined => {
  const found = takeClass(cursor);
  if (found && take(cursor, /-(?![\]-])/y)) throw new PatternWrong('a range begins with a class');
  return found;
};

/** What only ripgrep knows, as far as it matters here. */
const takeForeign = (cursor: Cursor): string | undefined => {
  if (take(cursor, /\[[:.=]/y)) throw new PatternWrong('`[:`, `[.` or `[=` begins no class of characters');
  const found = take(cursor, /&&|--|~~|\[|\\[bhHVe]/y)?.[0];
  if (found === undefined) return undefined;
  if (found.startsWith('\\')) notePcre(cursor, `${found} in a set`);
  else {
    cursor.ownOnly ??= found === '[' ? 'a set within a set' : 'an operation between sets';
    noteForeign(cursor, cursor.ownOnly);
  }
  return found === '[' ? takeSet(cursor, false).body : '';
};

const takeRange = (cursor: Cursor): string => {
  const foreign = takeForeign(cursor);
  if (foreign !== undefined) return foreign;
  const first = takeMember(cursor);
  if (!take(cursor, /-(?![\]-])/y)) return escaped(first);
  if (/^(?:\[|\\[dDsSwWpPbhHVe])/.test(cursor.text.slice(cursor.at, cursor.at + 2))) throw new PatternWrong('a range ends with a class');
  const last = takeMember(cursor);
  if ((first.codePointAt(0) ?? 0) > (last.codePointAt(0) ?? 0)) throw new PatternWrong(`the range ${first}-${last} is the wrong way round`);
  return `${escaped(first)}-${escaped(last)}`;
};

const takeMember = (cursor: Cursor): string => {
  const char = takeEscaped(cursor);
  if (char !== undefined) return char;
  if (cursor.text[cursor.at] === '\\') throw unknown(cursor.text.slice(cursor.at, cursor.at + 2));
  return takeChar(cursor);
};
