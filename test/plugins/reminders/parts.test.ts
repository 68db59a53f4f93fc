import { describe, expect, test } from 'vitest';
import { capReminder } from '../../../plugins/reminders/caps.ts';
import { dateReminder, isDue, localDate } from '../../../plugins/reminders/dates.ts';
import { RepeatWindow } from '../../../plugins/reminders/repeat.ts';

describe('the repeat window', () => {
  const blocked = (calls: readonly (readonly [tool: string, input: unknown])[]): readonly boolean[] => {
    const window = new RepeatWindow();
    return calls.map(([tool, input], index) => {
      window.see(`c${index}`, tool, input);
      return window.isBlocked(`c${index}`);
    });
  };
  const X = ['bash', { command: 'x' }] as const;
  const Y = ['bash', { command: 'y' }] as const;
  test.each([
    ['the fourth and every further one', [X, X, X, X, X], [false, false, false, true, true]],
    ['another call in between frees it', [X, X, X, X, Y, X], [false, false, false, true, false, false]],
    ['only three in a row count', [X, X, Y, X, X, X], [false, false, false, false, false, false]],
    ['another tool with the same arguments is another call', [X, X, X, ['ssh', { command: 'x' }]], [false, false, false, false]],
    [
      'asking a background task is exempt',
      Array.from({ length: 6 }, () => ['bash_output', { task_id: 'bg-1' }] as const),
      Array.from({ length: 6 }, () => false),
    ],
    ['an exempt call does not free it', [X, X, X, ['bash_output', {}], X], [false, false, false, false, true]],
    ['ending a background task is not exempt', Array.from({ length: 4 }, () => ['bash_kill', {}] as const), [false, false, false, true]],
  ] as const)('%s', (_, calls, expected) => expect(blocked(calls)).toEqual(expected));

  test('new input frees what was blocked', () => {
    const window = new RepeatWindow();
    for (let turn = 0; turn < 2; turn++) {
      for (let call = 0; call < 3; call++) window.see('same-id', ...X);
      expect(window.isBlocked('same-id')).toBe(false);
      window.reset();
    }
  });
  test('arguments nested too deeply to be compared are no fault', () => {
    const deep: unknown = JSON.parse(`{"path":"a","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`);
    expect(blocked(Array.from({ length: 5 }, () => ['read', deep] as const))).toEqual([false, false, false, false, false]);
  });
  test('an id that comes again is judged anew', () => {
    const window = new RepeatWindow();
    for (let call = 0; call < 4; call++) window.see('call_0', ...X);
    expect(window.isBlocked('call_0')).toBe(true);
    window.see('call_0', ...Y);
    expect(window.isBlocked('call_0')).toBe(false);
  });
});

describe('dates', () => {
  test('are local', () => expect(localDate(new Date(2026, 2, 1, 0, 5).getTime())).toBe('2026-03-01'));
  test('are due once, and never backwards', () => {
    expect(isDue('2026-03-01', null)).toBe(true);
    expect(isDue('2026-03-01', '2026-03-01')).toBe(false);
    expect(isDue('2026-03-02', '2026-03-01')).toBe(true);
    expect(isDue('2026-02-28', '2026-03-01')).toBe(false);
  });
  test('come with the day of the week', () => {
    expect(dateReminder('2026-03-01', true)).toBe('Today is Sunday, 2026-03-01.');
    expect(dateReminder('2026-03-02', false)).toContain('Monday, 2026-03-02');
  });
});

test.each([
  [7, 10, /4 more steps/],
  [10, 10, /last step/],
  [1, 4, /4 more steps/],
  [8, 10, undefined],
  [6, 10, undefined],
  [1, 3, undefined],
  [3, 3, undefined],
])('at step %d of %s', (step, cap, expected) => {
  const text = capReminder(step, cap);
  if (expected) expect(text).toMatch(expected);
  else expect(text).toBeUndefined();
});
