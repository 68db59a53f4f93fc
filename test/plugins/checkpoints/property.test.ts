/** Agent and user change files in any order; after the undo each is what three-way semantics say, or is named. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasGit, openDesk } from './desk.ts';

const NAMES = ['a', 'b', 'sub/c'] as const;
const LINES = 8;
/** Lines that are set, far enough from each other that two of them never touch. */
const SPOTS = [0, 2, 4, 6] as const;
type Model = Map<string, string[] | undefined>;

interface Act {
  readonly by: 'agent' | 'user';
  readonly how: 'write' | 'bash' | 'delete';
  readonly name: (typeof NAMES)[number];
  readonly spot: (typeof SPOTS)[number];
}
const act: fc.Arbitrary<Act> = fc.record({
  by: fc.constantFrom('agent', 'agent', 'user'),
  how: fc.constantFrom('write', 'write', 'bash', 'bash', 'delete'),
  name: fc.constantFrom(...NAMES),
  spot: fc.constantFrom(...SPOTS),
});

const fresh = (): string[] => Array.from({ length: LINES }, (_, index) => `line ${index}`);
const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

test.skipIf(!hasGit)('any series of changes of both', { timeout: 100_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 7 }), fc.subarray([...NAMES]), async (acts, present) => {
      await using desk = await openDesk({ git: true });
      desk.put('.keep', '');
      for (const name of present) desk.put(name, textOf(fresh()));
      desk.git('add', '.');
      desk.git('commit', '-qm', 'first');
      const gitBefore = desk.gitBytes();
      const now: Model = new Map(NAMES.map((name) => [name, present.includes(name) ? fresh() : undefined]));
      // What would be there without the agent; undefined in the set of doubts where that cannot be said line by line.
      const alone: Model = new Map([...now].map(([name, lines]) => [name, lines && [...lines]]));
      const userTouched = new Set<string>();
      const agentTouched = new Set<string>();
      const doubts = new Set<string>();
      const owners = new Map<string, 'agent' | 'user'>();
      for (const [number, { by, how, name, spot }] of acts.entries()) {
        const lines = now.get(name);
        const word = `${by} ${number}`;
        const place = `${name} ${spot}`;
        const next = how === 'delete' ? undefined : (lines ? [...lines] : fresh()).with(spot, word);
        if (how === 'delete' && !lines) continue;
        const createsOrDeletes = !lines || !next;
        if (by === 'user') {
          if (agentTouched.has(name) && (createsOrDeletes || !alone.get(name) || owners.get(place) === 'agent')) doubts.add(name);
          userTouched.add(name);
          const kept = alone.get(name);
          alone.set(name, next && (kept && !createsOrDeletes ? kept.with(spot, word) : [...next]));
          if (next) desk.put(name, textOf(next));
          else rmSync(join(desk.cwd, name));
        } else {
          agentTouched.add(name);
          await desk.turn(`step ${number}`, ...callsOf(how, name, next));
        }
        owners.set(place, by);
        now.set(name, next);
      }
      const prompts = desk.session.events('turn.started').length;
      const said = prompts === 0 ? '' : await desk.command('rewind', '1');
      for (const name of NAMES) {
        if (!agentTouched.has(name)) expect(desk.text(name)).toBe(shown(now.get(name)));
        else if (said.includes(`  ${name}: it `)) {
          // Left as it is, and only where the user has done something to it.
          expect(userTouched.has(name)).toBe(true);
          expect(desk.text(name)).toBe(shown(now.get(name)));
        } else if (!doubts.has(name)) expect(desk.text(name)).toBe(shown(alone.get(name)));
      }
      expect(desk.gitBytes()).toEqual(gitBefore);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 80_000 },
  );
});

const shown = (lines: readonly string[] | undefined): string | undefined => lines && textOf(lines);

const callsOf = (how: Act['how'], name: string, next: readonly string[] | undefined): readonly (readonly [string, object])[] => {
  if (!next) return [['bash', { command: `rm '${name}'` }]];
  const content = textOf(next);
  if (how === 'bash') return [['bash', { command: `mkdir -p sub; printf '%s' '${content}' > '${name}'` }]];
  return [
    ['bash', { command: `test -e '${name}' || true` }],
    ['read_if', { path: name }],
    ['write', { path: name, content }],
  ].filter(([tool]) => tool !== 'read_if') as readonly (readonly [string, object])[];
};
