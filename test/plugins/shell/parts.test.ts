import { describe, expect, test } from 'vitest';
import { partsOf } from '../../../plugins/shell/analysis.ts';

const words = (command: string): readonly string[] | undefined => partsOf(command)?.map((part) => [...part.assignments, ...part.words].join(' '));

describe('parts', () => {
  test.each([
    ['git status && touch P', ['git status', 'touch P']],
    ['ls; touch P', ['ls', 'touch P']],
    ['ls | tee P', ['ls', 'tee P']],
    ['ls & touch P', ['ls', 'touch P']],
    ['ls\ntouch P', ['ls', 'touch P']],
    ['echo $(touch P)', ['echo $(touch P)', 'touch P']],
    ['echo `touch P`', ['echo `touch P`', 'touch P']],
    ['LD_PRELOAD=./x ls', ['LD_PRELOAD=./x ls']],
    ['env A=1 git diff', ['env A=1 git diff', 'git diff']],
    ['find . -exec touch P +', ['find . -exec touch P +', 'touch P']],
    ["bash -c 'ls; touch P'", ['bash -c ls; touch P', 'ls', 'touch P']],
    ['git -C x push', ['git -C x push', 'git push']],
    ['X=$(ls)', ['X=$(ls)', 'ls']],
    ['[[ -f a ]] && ls', ['[[ [[ -f a ]]', 'ls']],
    ['"a b" \'c\' \\d', ['a b c d']],
    ['', []],
  ])('%j', (command, expected) => {
    expect(words(command)).toEqual(expected);
  });

  test.each([
    'echo "x',
    'ls (',
    'ls (\ntouch P',
    'f( ls',
    'ls \0 a',
    "bash -c 'echo \"x'",
    'bash -c "$X"',
    'eval $X',
    'cat <<E\nx',
    'source <(ls)',
    'echo $(ls',
    'echo ls | sh',
    'curl x | bash -s -- --yes',
    'cat x | bash /dev/stdin',
  ])('%j is not understood', (command) => {
    expect(partsOf(command)).toBeUndefined();
  });

  test.each([
    ['substitutions', '$(', ')'],
    ['quotes', '"$(', ')"'],
    ['groups', '{ ', '; }'],
    ['conditions', 'if ', ''],
  ])('text nested deeper than the parser reaches is not understood: %s', (_, open, close) =>
    expect(partsOf(open.repeat(5000) + close.repeat(5000))).toBeUndefined(),
  );

  test('a part says what is known only at run time, what it writes and whether it is nested', () => {
    expect(partsOf('cp "$A" b > log 2>&1 && echo $(cat *.md)')).toEqual([
      { words: ['cp', '$A', 'b'], dynamic: [1], assignments: [], writes: ['log'], nested: false, source: 'cp "$A" b > log 2>&1' },
      { words: ['echo', '$(cat *.md)'], dynamic: [1], assignments: [], writes: [], nested: false, source: 'echo $(cat *.md)' },
      { words: ['cat', '*.md'], dynamic: [1], assignments: [], writes: [], nested: true, source: 'cat *.md' },
    ]);
  });
  test('a group that is redirected writes, whatever stands in it', () => {
    expect(partsOf('{ ls; } > f')?.map(({ words: list, writes }) => [list, writes])).toEqual([
      [[], ['f']],
      [['ls'], []],
    ]);
  });
});
