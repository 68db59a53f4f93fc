/** Bash source as a flat list of simple commands, through the syntax tree of `unbash`. */
import { forEachChild, parse, type Command as CommandNode, type HereDoc, type HereString, type Redirect, type SyntaxNode, type Word as WordNode } from 'unbash';

export interface Word {
  /** Quotes removed; expansions as they are written. */
  readonly value: string;
  readonly raw: string;
  /** Its value is not known before the command runs. */
  readonly dynamic: boolean;
  /** It may become any number of words. */
  readonly splits: boolean;
  /** It may become an option, or several words. */
  readonly free: boolean;
  /** It holds a process substitution. */
  readonly pipe: boolean;
  /** The end of a dynamic word behind its last expansion, where that is plain text. */
  readonly tail: string;
}
/** Text that a command gets on standard input from the source itself. */
export interface Given {
  readonly text: string;
  readonly dynamic: boolean;
}
export interface Command {
  readonly words: readonly Word[];
  readonly assignments: readonly string[];
  readonly writes: readonly string[];
  readonly nested: boolean;
  readonly source: string;
  readonly given: readonly Given[];
  /** Commands whose output it reads through a pipe. */
  readonly feeders: readonly Command[];
  /** The commands that run this one (`xargs`, `env`, `bash`, …), the outermost first; empty for what stands in the source itself. */
  readonly via: readonly string[];
}
export interface Script {
  readonly commands: readonly Command[];
  /** Whatever is more than simple commands in lists and pipelines: `Subshell`, `CommandExpansion`, `HereDoc`, `background`, `input`, … */
  readonly constructs: ReadonlySet<string>;
  /** A function calls itself in the background or on both sides of a pipe. */
  readonly bomb: boolean;
}

/** Undefined when any part of the text, nested ones included, is not understood with certainty. */
export const parseScript = (text: string): Script | undefined => {
  if (text.includes('\0')) return undefined;
  const walk = new Walk();
  try {
    walk.visit(parse(text), { source: text, nested: false, feeders: [] });
  } catch {
    // It is nested deeper than the stack: whatever keeps it from being read, it is not understood.
    return undefined;
  }
  return walk.certain ? walk : undefined;
};

interface Place {
  readonly source: string;
  readonly nested: boolean;
  readonly feeders: readonly Command[];
}

const PLAIN = new Set(
  `Script Pipeline AndOr Command FileDescriptor Word Time Negation Assignment
   Literal Glob SingleQuoted DoubleQuoted AnsiCQuoted SimpleExpansion BraceExpansion`.split(/\s+/),
);

class Walk implements Script {
  readonly commands: Command[] = [];
  readonly constructs = new Set<string>();
  bomb = false;
  certain = true;

  visit(node: SyntaxNode, place: Place): void {
    this.note(node);
    if (isUncertain(node, place.source)) this.certain = false;
    switch (node.type) {
      case 'Script':
        return this.children(node, node.source === undefined ? place : { ...place, source: node.source });
      case 'Command':
        this.commands.push(commandOf(node, place));
        return this.children(node, place);
      case 'Pipeline':
        return this.pipeline(node.commands, place);
      case 'Redirected':
        return this.redirected(node.redirects, node, place);
      // Not simple commands, but they run: whoever looks for uncovered parts must find them.
      case 'TestCommand':
      case 'ArithmeticCommand':
        this.commands.push(bare(node.type === 'TestCommand' ? '[[' : '((', node, place));
        return this.children(node, place);
      case 'CommandExpansion':
      case 'ProcessSubstitution':
      case 'ArithmeticCommandExpansion':
        return this.children(node, { ...place, nested: true });
      default:
        return this.children(node, place);
    }
  }

  private children(node: SyntaxNode, place: Place): void {
    forEachChild(node, (child) => this.visit(child, place));
  }

  private note(node: SyntaxNode): void {
    if (node.type === 'Function' && callsItselfTwice(node.name.value, node.body)) this.bomb = true;
    const construct = constructOf(node);
    if (construct !== undefined) this.constructs.add(construct);
  }

  /** Every command of a stage reads what the stages before it print. */
  private pipeline(stages: readonly SyntaxNode[], place: Place): void {
    const start = this.commands.length;
    for (const stage of stages) this.visit(stage, { ...place, feeders: [...place.feeders, ...this.commands.slice(start)] });
  }

  private redirected(redirects: readonly SyntaxNode[], node: SyntaxNode, place: Place): void {
    const writes = redirects.flatMap((each) => (each.type === 'Redirect' ? writesOf(each) : []));
    if (writes.length > 0) this.commands.push({ ...bare(undefined, node, place), writes });
    this.children(node, place);
  }
}

/** What it is called when it is more than a simple command. */
const constructOf = (node: SyntaxNode): string | undefined => {
  switch (node.type) {
    case 'Statement':
      return node.background ? 'background' : undefined;
    case 'Redirect':
      return node.operator.startsWith('<') ? 'input' : undefined;
    case 'ParameterExpansion':
      return node.prefix || node.index || node.operation ? node.type : undefined;
    default:
      return PLAIN.has(node.type) ? undefined : node.type;
  }
};

/** Whether the parser had to guess here. */
const isUncertain = (node: SyntaxNode, source: string): boolean => {
  switch (node.type) {
    case 'Script':
      return node.errors !== undefined && node.errors.length > 0;
    case 'HereDoc':
      return node.closing === undefined;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
    case 'ArithmeticCommandExpansion':
      return node.script === undefined;
    case 'Command':
      // It passes over a parenthesis behind a command's words, which bash refuses (`ls (` in test/plugins/shell/parts.test.ts).
      return [node.name?.end, node.end].some((end) => end !== undefined && /^([ \t]|\\\n)*\(/.test(source.slice(end, end + 200)));
    default:
      return false;
  }
};

const commandOf = (node: CommandNode, place: Place): Command => {
  const assignments = node.prefix.filter((each) => each.type === 'Assignment').map((each) => each.text);
  const words = [
    ...(node.name ? [wordOf(node.name)] : []),
    ...node.args.map((each) => (each.type === 'Word' ? wordOf(each) : assignmentWord(each.text, each.value))),
  ];
  return {
    words,
    assignments,
    writes: node.redirects.flatMap((each) => (each.type === 'Redirect' ? writesOf(each) : [])),
    nested: place.nested,
    source: place.source.slice(node.pos, node.end).trim(),
    given: node.redirects.flatMap((each) => (each.type === 'Redirect' ? [] : [givenOf(each)])),
    feeders: place.feeders,
    via: [],
  };
};
const bare = (name: string | undefined, node: SyntaxNode, place: Place): Command => {
  const source = place.source.slice(node.pos, node.end).trim();
  const words = name === undefined ? [] : [plainWord(name), { ...plainWord(source), dynamic: true, splits: true, free: true }];
  return { words, assignments: [], writes: [], nested: place.nested, source, given: [], feeders: place.feeders, via: [] };
};

/** `>&1` and `>&-` only join or close descriptors; every other output redirection opens a file. */
const writesOf = ({ operator, target }: Redirect): string[] => {
  if (operator === '<' || operator === '<&') return [];
  const value = target?.value ?? '';
  return operator === '>&' && /^(\d+-?|-)$/.test(value) ? [] : [value];
};
const givenOf = (redirect: HereString | HereDoc): Given =>
  redirect.type === 'HereString'
    ? { text: redirect.target?.value ?? '', dynamic: redirect.target ? wordOf(redirect.target).dynamic : false }
    : { text: redirect.body.text, dynamic: redirect.body.parts?.some((part) => part.type !== 'Literal') ?? false };

export const plainWord = (value: string): Word => ({ value, raw: value, dynamic: false, splits: false, free: false, pipe: false, tail: value });

/** `export X=$Y`: the name is known, the value may not be. */
const assignmentWord = (text: string, value: SyntaxNode): Word => {
  const word = value.type === 'Word' ? wordOf(value) : undefined;
  const plain = word ? text.slice(0, text.indexOf('=') + 1) + word.value : text;
  return { ...plainWord(plain), raw: text, dynamic: word?.dynamic ?? true };
};

const wordOf = (node: WordNode): Word => {
  const parts = node.parts ?? [];
  const dynamic = parts.some(expands);
  if (!dynamic) return { ...plainWord(node.value), raw: node.text };
  const first = parts[0];
  const splits = parts.some((part) => expands(part) && part.type !== 'Glob' && part.type !== 'DoubleQuoted');
  const startsOpen = first === undefined || node.value.startsWith('-') || (first.type === 'DoubleQuoted' ? first.parts[0]?.type !== 'Literal' : expands(first));
  return {
    value: node.value,
    raw: node.text,
    dynamic,
    splits,
    free: splits || startsOpen,
    pipe: parts.some((part) => part.type === 'ProcessSubstitution'),
    tail: tailOf(parts),
  };
};

/** Every kind of part but plain and quoted text becomes something else at run time. */
const expands = (part: SyntaxNode): boolean => {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return false;
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.some(expands);
    default:
      return true;
  }
};

const tailOf = (parts: readonly SyntaxNode[]): string => {
  let tail = '';
  for (const part of parts) {
    if (part.type === 'DoubleQuoted') tail = expands(part) ? tailOf(part.parts) : tail + tailOf(part.parts);
    else if (part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') tail += part.value;
    else tail = '';
  }
  return tail;
};

const callsItselfTwice = (name: string, body: SyntaxNode): boolean => {
  let found = false;
  const isCall = (node: SyntaxNode): boolean => node.type === 'Command' && node.name?.value === name;
  const look = (node: SyntaxNode): void => {
    if (node.type === 'Pipeline' && node.commands.filter(isCall).length > 1) found = true;
    if (node.type === 'Statement' && node.background && (isCall(node.command) || (node.command.type === 'Pipeline' && node.command.commands.some(isCall))))
      found = true;
    forEachChild(node, look);
  };
  look(body);
  return found;
};
