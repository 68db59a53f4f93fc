import { basename, relative } from 'node:path';
import { ToolError } from '../../kernel/index.ts';
import picomatch from 'picomatch';
import { slashed } from './place.ts';

/**
 * A test for absolute paths below `root`. Without a slash the pattern is for names anywhere, else for paths relative to the
 * root, at any depth; a slash in front anchors it there.
 */
export const wildcard = (pattern: string, root: string): ((path: string) => boolean) => {
  const own = withoutRoot(slashed(pattern), slashed(root)).replace(/^\.\//, '');
  const whole = own.endsWith('/') ? `${own}**` : own;
  if (!whole.includes('/')) {
    const matches = compile(whole, pattern);
    return (path) => matches(basename(path));
  }
  const matches = compile(whole.startsWith('/') ? whole.slice(1) : `**/${whole.replace(/^(?:\*\*\/)+/, '')}`, pattern);
  return (path) => matches(slashed(relative(root, path)));
};

const withoutRoot = (pattern: string, root: string): string => (pattern.startsWith(`${root}/`) ? pattern.slice(root.length) : pattern);

const compile = (pattern: string, asked: string): ((text: string) => boolean) => {
  try {
    // Parentheses are part of real names, such as `app/(shop)/page.tsx`.
    return picomatch(pattern.replace(/[()]/g, '\\$&'), { dot: true, noextglob: true, nonegate: true, windows: false });
  } catch {
    throw new ToolError('INVALID_ARGUMENT', `Not a valid glob pattern: ${asked.slice(0, 200)}`);
  }
};
