import { ToolError } from '../../kernel/index.ts';
import picomatch from 'picomatch';
import { effortOf } from './effort.ts';
import { LIMITS } from './limits.ts';
import { slashed } from './place.ts';

/** Which files are of interest. */
export interface Wildcard {
  /** By absolute path, below the root. */
  test(path: string): boolean;
  /** One of them ends the name of every such file; undefined when that cannot be told. */
  readonly endings?: readonly string[];
}

export const everything: Wildcard = { test: () => true };

/**
 * Without a slash the pattern is for names anywhere, else for paths relative to the root, at any depth; a slash in front anchors it there.
 */
export const wildcard = (pattern: string, root: string): Wildcard => {
  const top = root.endsWith('/') ? root : `${slashed(root)}/`;
  if (/^(?:\*\*\/)*\*\*?$/.test(pattern)) return everything;
  const own = withoutRoot(slashed(pattern), top).replace(/^\.\//, '');
  const whole = own.endsWith('/') ? `${own}**` : own;
  if (!whole.includes('/')) {
    const matches = compile(whole, pattern);
    return ended((path) => matches(nameOf(path)), whole);
  }
  const matches = compile(whole.startsWith('/') ? whole.slice(1) : `**/${whole.replace(/^(?:\*\*\/)+/, '')}`, pattern);
  return ended((path) => matches(slashed(path.slice(top.length))), whole);
};

/** Most paths end otherwise, and need not be looked at. */
const ended = (test: Wildcard['test'], pattern: string): Wildcard => {
  const endings = endingsOf(pattern);
  return endings ? { test: (path) => endings.some((ending) => path.endsWith(ending)) && test(path), endings } : { test };
};

/** With `!` in front: all others. */
export const filter = (glob: string | undefined, root: string): Wildcard => {
  if (glob === undefined || glob.trim() === '') return everything;
  if (!glob.startsWith('!')) return wildcard(glob, root);
  const { test } = wildcard(glob.slice(1), root);
  return { test: (path) => !test(path) };
};

const withoutRoot = (pattern: string, top: string): string => (pattern.startsWith(top) ? pattern.slice(top.length - 1) : pattern);

const nameOf = (path: string): string => slashed(path).slice(slashed(path).lastIndexOf('/') + 1);

/** `*.ts`, `src/*.{js,ts}`: what follows the last star, where nothing in it has a meaning but one pair of braces around several plain texts. */
const endingsOf = (pattern: string): readonly string[] | undefined => {
  const [, before = '', many, after = ''] = /\*([\w.-]*)(?:\{((?:(?!\.\.)[\w.-])+(?:,(?:(?!\.\.)[\w.-])+)+)\}([\w.-]*))?$/.exec(pattern) ?? [undefined];
  const endings = (many ?? '').split(',').map((each) => before + each + after);
  return endings.every((ending) => ending !== '') ? endings : undefined;
};

const compile = (pattern: string, asked: string): ((text: string) => boolean) => {
  try {
    // Parentheses are part of real names, such as `app/(shop)/page.tsx`; a plus behind brackets or braces would repeat them.
    const matches = picomatch(
      pattern.replace(/\\[\s\S]|[()+]/g, (part) => (part.length > 1 ? part : `\\${part}`)),
      {
        dot: true,
        noextglob: true,
        nonegate: true,
        windows: false,
        maxLength: LIMITS.glob,
      },
    );
    return effortOf([pattern]).bounded((text) => matches(text));
  } catch {
    throw new ToolError('INVALID_ARGUMENT', `Not a valid glob pattern: ${asked.slice(0, 200)}`);
  }
};
