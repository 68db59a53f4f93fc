import { foreignReference } from './pattern-references.ts';
import { type Cursor, noteForeign, notePcre, takeChar, takeClass, takeEscaped, takeSet } from './pattern-sets.ts';
import { checkSize } from './pattern-size.ts';
import { looksAround } from './pattern-write.ts';
import { type Choice, type Edge, lineFeed, type Look, NO_NUL, type Node, PatternWrong, type Sequence, unknown } from './pattern-tree.ts';

const EDGES: readonly (readonly [RegExp, Edge])[] = [
  [/\^|\\A/y, 'start'],
  [/\$|\\[zZ]/y, 'end'],
  [/\\b\{start\}|\\</y, 'wordStart'],
  [/\\b\{end\}|\\>/y, 'wordEnd'],
  [/\\b(?!\{)/y, 'word'],
  [/\\B/y, 'inside'],
];

export interface Parsed {
  readonly choice: Choice;
  /** The pattern as ripgrep's own engine understands it, unless it looks around or refers back. */
  readonly plain: string;
  /** It asks for a carriage return: then a line ends behind it. Else the line ends before it. */
  readonly isReturn: boolean;
  /** The first thing in it that only ripgrep knows. */
  readonly foreign: string | undefined;
  /** What keeps JavaScript from matching it, though it was understood. */
  readonly reference: string | undefined;
}

/** Reads the notation of ripgrep's own engine, and of PCRE2 what looks around and refers back. */
export const parsePattern = (pattern: string, ignoreCase: boolean): Parsed => {
  const parser = new Parser(pattern, ignoreCase);
  const parsed = parser.all();
  checkSize(parsed);
  return { ...parsed, reference: foreignReference(parsed.choice, parser.known) };
};

const LOOKS: readonly Look[] = ['?=', '?!', '?<=', '?<!'];
const SIGNS: Readonly<Record<string, readonly [number, number]>> = { '*': [0, Number.POSITIVE_INFINITY], '+': [1, Number.POSITIVE_INFINITY], '?': [0, 1] };
const timesOf = (from = '', to = ''): readonly [number, number] => [Number(from), to === '' ? Number.POSITIVE_INFINITY : Number(to)];
/** `a++` is `a+`: JavaScript would try all ways to share out the letters between the two. */
const repeat = (of: Node, least: number, most: number): Node => {
  const isOne = of.kind === 'repeat' && of.least <= 1 && (of.most === Number.POSITIVE_INFINITY || (of.most > 0 && most === Number.POSITIVE_INFINITY));
  if (!isOne || most === 0) return { kind: 'repeat', of, least, most };
  return { kind: 'repeat', of: of.of, least: of.least * least, most: Number.POSITIVE_INFINITY };
};

/** Deeper than anybody writes. ripgrep takes 250 of groups, alternatives, sequences and repetitions together. */
const MAX_DEPTH = 35;
const MAX_STACKED = 4;
/** What PCRE2 knows besides. */
const PCRE_ESCAPES = /\\(?:[KRhHNXVGe]|Q[\s\S]+?\\E)/y;

const noteFlags = (cursor: Cursor, on: string, off: string): void => {
  const all = on + off;
  if (/[^imsUux]/.test(all) || new Set(all).size < all.length) throw new PatternWrong(`the flags ${on}${off === '' ? '' : `-${off}`} have no meaning`);
  if (/[uU]/.test(all)) cursor.ownOnly ??= `the flags ${all}`;
  // Within one line the others change nothing.
  const foreign = on.replace(/[imsUu]/g, '') + off.replace(/[isU]/g, '');
  if (foreign !== '') noteForeign(cursor, `the flag ${foreign}`);
};

interface Mode {
  readonly ignoreCase: boolean;
  /** The flag x is set. */
  readonly isSpaced: boolean;
}

const countsIn = ([all, sign = '', exactly, from = exactly, to = exactly]: RegExpExecArray): {
  readonly from: string | undefined;
  readonly least: number;
  readonly most: number;
} => {
  const [least, most] = SIGNS[sign] ?? timesOf(from, to);
  if (least > most) throw new PatternWrong(`${all} is the wrong way round`);
  return { from, least, most };
};

class Parser {
  readonly #cursor: Cursor;
  #mode: Mode;
  #groups = 0;
  readonly #names = new Set<string>();
  #depth = 0;
  /** How many of the groups around look ahead or behind. */
  #looks = 0;
  #plain = '';
  /** How far `plain` has come. */
  #done = 0;

  constructor(text: string, ignoreCase: boolean) {
    this.#cursor = { text, at: 0, isReturn: false, foreign: undefined, ofPcre: undefined, ownOnly: undefined };
    this.#mode = { ignoreCase, isSpaced: false };
  }

  /** Numbers and names of all groups. */
  get known(): ReadonlySet<string> {
    return new Set([...this.#names, ...Array.from({ length: this.#groups }, (_, index) => String(index + 1))]);
  }

  all(): Parsed {
    const choice = this.#choice(false);
    const { text, at, isReturn, foreign, ofPcre, ownOnly } = this.#cursor;
    if (at < text.length) throw new PatternWrong('a group is closed that was not opened');
    // What is foreign is left as it is written to the one of ripgrep's engines that knows it.
    const other = ofPcre ?? (foreign !== undefined && looksAround(choice) ? 'looking around' : undefined);
    if (other !== undefined && ownOnly !== undefined) throw new PatternWrong(`nothing knows both ${other} and ${ownOnly}`);
    return { choice, plain: this.#plain + text.slice(this.#done), isReturn, foreign, reference: undefined };
  }

  #choice(isBehind: boolean): Choice {
    const outside = this.#mode;
    const choice = [this.#sequence(isBehind)];
    while (this.#take(/\|/y)) choice.push(this.#sequence(isBehind));
    // Flags that were set within a group end with it.
    this.#mode = outside;
    return choice;
  }

  #sequence(isBehind: boolean): Sequence {
    const nodes: Node[] = [];
    while (this.#hasMore()) {
      if (this.#sees(/[*+?]|\{(?:\d+,?|,?\d+|\d+,\d+)\}/y)) throw new PatternWrong('there is nothing to repeat before `*`, `+`, `?` or `{`');
      if (this.#setFlags(/\(\?(?=[A-Za-z-])([A-Za-z]*)(?:-([A-Za-z]+))?\)/y)) continue;
      let node = this.#one(isBehind);
      let stacked = 0;
      for (let next = this.#repeated(node, isBehind); next; next = this.#repeated(node, isBehind)) {
        node = next;
        stacked += 1;
        if (stacked > 1) this.#cursor.ownOnly ??= 'repetitions that follow each other';
        if (stacked > MAX_STACKED) throw new PatternWrong(`more than ${MAX_STACKED} repetitions follow each other`);
      }
      nodes.push(node);
    }
    return nodes;
  }

  #hasMore(): boolean {
    this.#space();
    return this.#cursor.at < this.#cursor.text.length && !this.#sees(/[|)]/y);
  }

  /** With the flag x spaces and comments stand between the parts. */
  #space(): void {
    if (!this.#mode.isSpaced) return;
    this.#take(/(?:\s|#.*\n)+/y);
    // It would reach over what ripgrep puts behind the pattern.
    if (this.#sees(/#/y)) throw new PatternWrong('a comment is not ended with a line feed');
  }

  #one(isBehind: boolean): Node {
    return (
      this.#edge() ??
      this.#set() ??
      this.#back(isBehind) ??
      this.#look(isBehind) ??
      this.#group(isBehind) ??
      this.#pcre(isBehind) ?? { kind: 'char', char: this.#char(), ...this.#case() }
    );
  }

  #case(): { readonly ignoreCase: boolean } {
    return { ignoreCase: this.#mode.ignoreCase };
  }

  #edge(): Node | undefined {
    const begin = this.#cursor.at;
    const edge = EDGES.find(([form]) => this.#take(form))?.[1];
    if (edge === 'wordStart' || edge === 'wordEnd') this.#cursor.ownOnly ??= 'edges of words';
    // Of a part of a file the engine knows no beginning and no end.
    if (edge === 'start' || edge === 'end') this.#instead(begin, edge === 'start' ? '^' : '$');
    return edge && { kind: 'edge', edge };
  }

  #set(): Node | undefined {
    if (this.#take(/\[/y)) return takeSet(this.#cursor, this.#mode.ignoreCase);
    const named = this.#take(/\./y) ? { body: '', isNegated: true } : takeClass(this.#cursor);
    return named && { kind: 'set', ...named, complements: [], ...this.#case() };
  }

  #pcre(isBehind: boolean): Node | undefined {
    const found = this.#take(PCRE_ESCAPES)?.[0];
    if (found === undefined) return undefined;
    if (isBehind || (this.#looks > 0 && found === '\\K')) throw new PatternWrong(`${found} cannot be looked for behind or ahead`);
    if (found === '\\K' && this.#sees(/[*+?]|\{[\d,]/y)) throw new PatternWrong(`${found} cannot be repeated`);
    notePcre(this.#cursor, found);
    return { kind: 'group', name: undefined, number: undefined, body: [[]] };
  }

  #back(isBehind: boolean): Node | undefined {
    const names = this.#take(/\\(?:([1-9])(?!\d)|k<(\w+)>|k\{(\w+)\})|\(\?P=(\w+)\)/y)?.slice(1);
    const to = names?.find((name) => name !== undefined);
    if (to !== undefined && isBehind) throw new PatternWrong('a reference in what is looked for behind has no longest length');
    return to === undefined ? undefined : { kind: 'back', to, ...this.#case() };
  }

  #look(isBehind: boolean): Node | undefined {
    const look = LOOKS.find((each) => this.#cursor.text.startsWith(`(${each}`, this.#cursor.at));
    if (!look) return undefined;
    this.#cursor.at += 1 + look.length;
    this.#looks += 1;
    const body = this.#body(isBehind || look.startsWith('?<'));
    this.#looks -= 1;
    return { kind: 'look', look, body };
  }

  #group(isBehind: boolean): Node | undefined {
    if (!this.#sees(/\(/y)) return undefined;
    const name = this.#take(/\(\?P?<([A-Za-z_]\w{0,31})>/y)?.[1];
    const outside = this.#mode;
    const captures = name !== undefined || this.#take(/\((?!\?)/y) !== undefined;
    if (!captures) this.#open();
    if (captures) this.#groups += 1;
    if (name !== undefined) this.#call(name);
    const number = captures ? this.#groups : undefined;
    const body = this.#body(isBehind);
    this.#mode = outside;
    return { kind: 'group', name, number, body };
  }

  /** What begins a group that does not capture. */
  #open(): void {
    if (this.#setFlags(/\(\?([A-Za-z]*)(?:-([A-Za-z]+))?:/y)) return;
    const found = this.#take(/\(\?[>|]/y)?.[0];
    if (found === undefined) throw unknown(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3));
    notePcre(this.#cursor, found);
  }

  #call(name: string): void {
    if (this.#names.has(name)) throw new PatternWrong(`two groups have the name ${name}`);
    this.#names.add(name);
  }

  #body(isBehind: boolean): Choice {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw new PatternWrong(`groups are nested more than ${MAX_DEPTH} deep`);
    const body = this.#choice(isBehind);
    this.#depth -= 1;
    if (!this.#take(/\)/y)) throw new PatternWrong('a group is not closed with `)`');
    return body;
  }

  #char(): string {
    const char = takeEscaped(this.#cursor) ?? this.#plainChar();
    if (char === '\n') throw lineFeed();
    if (char === '\0') throw new PatternWrong(NO_NUL);
    if (char === '\r') this.#cursor.isReturn = true;
    return char;
  }

  #plainChar(): string {
    if (this.#take(/\\$/y)) throw new PatternWrong('it ends with a backslash');
    if (this.#sees(/\\/y)) throw unknown(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 2));
    const begin = this.#cursor.at;
    const char = takeChar(this.#cursor);
    // People write `function f() {`, which the engine refuses.
    if (char === '{') this.#instead(begin, '\\{');
    return char;
  }

  #setFlags(form: RegExp): boolean {
    const flags = this.#take(form);
    if (flags) this.#apply(flags[1] ?? '', flags[2] ?? '');
    return flags !== undefined;
  }

  #apply(on: string, off: string): void {
    noteFlags(this.#cursor, on, off);
    const isOn = (flag: string, before: boolean): boolean => (before || on.includes(flag)) && !off.includes(flag);
    this.#mode = { ignoreCase: isOn('i', this.#mode.ignoreCase), isSpaced: isOn('x', this.#mode.isSpaced) };
  }

  #repeated(of: Node, isBehind: boolean): Node | undefined {
    this.#space();
    const begin = this.#cursor.at;
    const found = this.#take(/(?:([*+?])|\{(\d+)\}|\{(\d*),(\d*)\}(?<!\{,\}))/y);
    if (!found) return undefined;
    const { from, least, most } = countsIn(found);
    if (isBehind && most === Number.POSITIVE_INFINITY) throw new PatternWrong('what is looked for behind has no longest length');
    if (from === '') this.#instead(begin, `{0,${most}}`);
    if (of.kind === 'edge') this.#cursor.ownOnly ??= 'an edge that is repeated';
    // Greedy or not, the first match begins at the same place.
    this.#take(/\?/y);
    return repeat(of, least, most);
  }

  /** What was read from `begin` on is written otherwise for the engine. */
  #instead(begin: number, text: string): void {
    this.#plain += this.#cursor.text.slice(this.#done, begin) + text;
    this.#done = this.#cursor.at;
  }

  #take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#cursor.at;
    const found = form.exec(this.#cursor.text);
    if (found) this.#cursor.at += found[0].length;
    return found ?? undefined;
  }

  #sees(form: RegExp): boolean {
    form.lastIndex = this.#cursor.at;
    return form.test(this.#cursor.text);
  }
}
