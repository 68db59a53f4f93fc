/** What the `shell` service says about a command. Loaded late: it brings the parser. */
import type { ShellPart } from '../../kernel/index.ts';
import { dangersIn } from './dangers.ts';
import { parseScript, type Command, type Script } from './grammar.ts';
import { readsOnly } from './readonly.ts';
import type { Inner } from './inner.ts';
import { innerOf, nameOf } from './wrappers.ts';

/** Wrappers inside wrappers; deeper ones are not understood. */
const MAX_DEPTH = 8;

export interface Analysis extends Script {
  /** What keeps the text from being understood, for people; undefined when all of it is. */
  readonly unclear?: string;
}

/** All commands of a text: those that stand in it, and those that wrappers such as `env`, `xargs` and `bash -c` run. */
const analyse = (text: string): Analysis => {
  const script = parseScript(text);
  if (!script) return { commands: [], constructs: new Set(), bomb: false, unclear: 'the shell syntax is incomplete or unknown' };
  const found: Found = { commands: [], bomb: script.bomb };
  for (const command of script.commands) unwrap(command, MAX_DEPTH, found);
  return { commands: found.commands, constructs: script.constructs, bomb: found.bomb, ...(found.unclear === undefined ? {} : { unclear: found.unclear }) };
};

interface Found {
  readonly commands: Command[];
  bomb: boolean;
  unclear?: string;
}

const unwrap = (command: Command, depth: number, found: Found): void => {
  found.commands.push(command);
  const inner = innerOf(command);
  if (inner.length > 0 && depth === 0) found.unclear = 'commands are wrapped too deeply';
  else for (const each of inner) unwrapOne(each, command, depth - 1, found);
};

const unwrapOne = (inner: Inner, outer: Command, depth: number, found: Found): void => {
  const name = nameOf(outer) ?? '';
  const via = [...outer.via, name];
  if ('unknown' in inner) {
    found.unclear = `${inner.unknown} runs text that is only known at run time`;
    return;
  }
  if ('words' in inner) {
    const source = inner.words.map((word) => word.raw).join(' ');
    unwrap({ ...outer, words: inner.words, assignments: [], writes: [], source, via }, depth, found);
    return;
  }
  const script = parseScript(inner.text);
  if (!script) {
    found.unclear = `the text that ${name} runs is incomplete or unknown shell syntax`;
    return;
  }
  found.bomb ||= script.bomb;
  for (const each of script.commands) {
    unwrap({ ...each, nested: each.nested || outer.nested, feeders: [...outer.feeders, ...each.feeders], via }, depth, found);
  }
};

// Permissions, plan mode and the judge ask about the same text one after another.
let last: { readonly text: string; readonly analysis: Analysis } | undefined;
const analysed = (text: string): Analysis => {
  if (last?.text !== text) last = { text, analysis: analyse(text) };
  return last.analysis;
};

export const partsOf = (text: string): readonly ShellPart[] | undefined => {
  const { commands, unclear } = analysed(text);
  return unclear === undefined ? commands.map(partOf) : undefined;
};
export const isReadOnly = (text: string): boolean => readsOnly(analysed(text));
export const dangersOf = (text: string): readonly string[] => dangersIn(analysed(text));

const partOf = ({ words, assignments, writes, nested, source }: Command): ShellPart => ({
  words: words.map((word) => word.value),
  dynamic: words.flatMap((word, index) => (word.dynamic ? [index] : [])),
  assignments,
  writes,
  nested,
  source,
});
