import { type Cursor, takeChar, takeClass, takeEscaped, takeSet } from './pattern-sets.ts';
import { type Choice, type Edge, lineFeed, type Look, NO_NUL, type Node, PatternForeign, PatternWrong, type Sequence } from './pattern-tree.ts';

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
}

/** Reads the notation of ripgrep's own engine, and of PCRE2 what looks around and refers back. */
export const parsePattern = (pattern: string, ignoreCase: boolean): Parsed => {
  const parsed = new Parser(pattern, ignoreCase).all();
  checkReferences(parsed.choice, new Set());
  return parsed;
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

/** Deeper than anybody writes; each level takes a part of the stack. */
const MAX_DEPTH = 100;

class Parser {
  readonly #cursor: Cursor;
  #ignoreCase: boolean;
  #groups = 0;
  readonly #names = new Set<string>();
  #depth = 0;
  #plain = '';
  /** How far `plain` has come. */
  #done = 0;

  constructor(text: string, ignoreCase: boolean) {
    this.#cursor = { text, at: 0, isReturn: false };
    this.#ignoreCase = ignoreCase;
  }

  all(): Parsed {
    const choice = this.#choice(false);
    const { text, at, isReturn } = this.#cursor;
    if (at < text.length) throw new PatternWrong('a group is closed that was not opened');
    return { choice, plain: this.#plain + text.slice(this.#done), isReturn };
  }

  #choice(isBehind: boolean): Choice {
    const outside = this.#ignoreCase;
    const choice = [this.#sequence(isBehind)];
    while (this.#take(/\|/y)) choice.push(this.#sequence(isBehind));
    // Flags that were set within a group end with it.
    this.#ignoreCase = outside;
    return choice;
  }

  #sequence(isBehind: boolean): Sequence {
    const nodes: Node[] = [];
    while (this.#cursor.at < this.#cursor.text.length && !this.#sees(/[|)]/y)) {
      if (this.#sees(/[*+?]|\{(?:\d+,?|,?\d+|\d+,\d+)\}/y)) throw new PatternWrong('there is nothing to repeat before `*`, `+`, `?` or `{`');
      if (this.#setFlags(/\(\?(?=[A-Za-z-])([A-Za-z]*)(?:-([A-Za-z]+))?\)/y)) continue;
      let node = this.#one(isBehind);
      for (let next = this.#repeated(node, isBehind); next; next = this.#repeated(node, isBehind)) node = next;
      nodes.push(node);
    }
    return nodes;
  }

  #one(isBehind: boolean): Node {
    return (
      this.#edge() ?? this.#set() ?? this.#back() ?? this.#look(isBehind) ?? this.#group(isBehind) ?? { kind: 'char', char: this.#char(), ...this.#case() }
    );
  }

  #case(): { readonly ignoreCase: boolean } {
    return { ignoreCase: this.#ignoreCase };
  }

  #edge(): Node | undefined {
    const begin = this.#cursor.at;
    const edge = EDGES.find(([form]) => this.#take(form))?.[1];
    // Of a part of a file the engine knows no beginning and no end.
    if (edge === 'start' || edge === 'end') this.#instead(begin, edge === 'start' ? '^' : '$');
    return edge && { kind: 'edge', edge };
  }

  #set(): Node | undefined {
    if (this.#take(/\[/y)) return takeSet(this.#cursor, this.#ignoreCase);
    const named = this.#take(/\./y) ? { body: '', isNegated: true } : takeClass(this.#cursor);
    return named && { kind: 'set', ...named, complements: [], ...this.#case() };
  }

  #back(): Node | undefined {
    const names = this.#take(/\\(?:([1-9])(?!\d)|k<(\w+)>|k\{(\w+)\})|\(\?P=(\w+)\)/y)?.slice(1);
    const to = names?.find((name) => name !== undefined);
    return to === undefined ? undefined : { kind: 'back', to, ...this.#case() };
  }

  #look(isBehind: boolean): Node | undefined {
    const look = LOOKS.find((each) => this.#cursor.text.startsWith(`(${each}`, this.#cursor.at));
    if (!look) return undefined;
    this.#cursor.at += 1 + look.length;
    return { kind: 'look', look, body: this.#body(isBehind || look.startsWith('?<')) };
  }

  #group(isBehind: boolean): Node | undefined {
    if (!this.#sees(/\(/y)) return undefined;
    const name = this.#take(/\(\?P?<([A-Za-z_]\w*)>/y)?.[1];
    const outside = this.#ignoreCase;
    const captures = name !== undefined || this.#take(/\((?!\?)/y) !== undefined;
    if (!captures && !this.#setFlags(/\(\?([A-Za-z]*)(?:-([A-Za-z]+))?:/y)) {
      throw new PatternForeign(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 3));
    }
    if (captures) this.#groups += 1;
    if (name !== undefined) this.#call(name);
    const number = captures ? this.#groups : undefined;
    const body = this.#body(isBehind);
    this.#ignoreCase = outside;
    return { kind: 'group', name, number, body };
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
    if (this.#sees(/\\/y)) throw new PatternForeign(this.#cursor.text.slice(this.#cursor.at, this.#cursor.at + 2));
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

  /** Within one line the others change nothing. */
  #apply(on: string, off: string): void {
    const foreign = on.replace(/[imsUu]/g, '') + off.replace(/[isU]/g, '');
    if (foreign !== '') throw new PatternForeign(`the flag ${foreign}`);
    if (on.includes('i')) this.#ignoreCase = true;
    if (off.includes('i')) this.#ignoreCase = false;
  }

  #repeated(of: Node, isBehind: boolean): Node | undefined {
    const begin = this.#cursor.at;
    const found = this.#take(/(?:([*+?])|\{(\d+)\}|\{(\d*),(\d*)\}(?<!\{,\}))/y);
    if (!found) return undefined;
    const [all, sign = '', exactly, from = exactly, to = exactly] = found;
    const [least, most] = SIGNS[sign] ?? timesOf(from, to);
    if (least > most) throw new PatternWrong(`${all} is the wrong way round`);
    if (isBehind && most === Number.POSITIVE_INFINITY) throw new PatternWrong('what is looked for behind has no longest length');
    if (from === '') this.#instead(begin, `{0,${most}}`);
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

/** What a group that took no part stands for differs: a reference must be to one that certainly has. */
const checkReferences = (choice: Choice, closed: Set<string>): void => {
  for (const sequence of choice) {
    const known = choice.length > 1 ? new Set(closed) : closed;
    for (const node of sequence) checkNode(node, known);
  }
};

const checkNode = (node: Node, known: Set<string>): void => {
  if (node.kind === 'back' && !known.has(node.to)) throw new PatternForeign('a reference to a group that may have no part in the match');
  if (node.kind === 'look') checkReferences(node.body, new Set(known));
  if (node.kind === 'repeat') checkNode(node.of, node.least > 0 ? known : new Set(known));
  if (node.kind !== 'group') return;
  checkReferences(node.body, known);
  if (node.number !== undefined) known.add(String(node.number));
  if (node.name !== undefined) known.add(node.name);
};
