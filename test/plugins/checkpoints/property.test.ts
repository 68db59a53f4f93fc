/** Agent and user change files in any order; after the undo each is what three-way semantics say, or is named. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Desk, hasGit, openDesk } from './desk.ts';

const NAMES = ['a', 'sub/c'] as const;
const LINES = 8;
/** Lines that are set, far enough from each other that two of them never touch. */
const SPOTS = [0, 4] as const;
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

/** What is there, and what would be there without the agent. */
class World {
  readonly now: Model;
  readonly alone: Model;
  readonly byUser = new Set<string>();
  readonly byAgent = new Set<string>();
  /** Files of which it cannot be said line by line what would be there. */
  readonly doubts = new Set<string>();
  readonly #owners = new Map<string, Act['by']>();

  constructor(present: readonly string[]) {
    this.now = new Map(NAMES.map((name) => [name, present.includes(name) ? fresh() : undefined]));
    this.alone = new Map(this.now);
  }

  /** The lines after an act; null when there is nothing to do. */
  next({ by, how, name, spot }: Act, number: number): string[] | undefined | null {
    const lines = this.now.get(name);
    if (how === 'delete' && !lines) return null;
    const next = how === 'delete' ? undefined : (lines ?? fresh()).with(spot, `${by} ${number}`);
    const isWhole = !lines || !next;
    if (by === 'agent') this.byAgent.add(name);
    else this.#userMakes(name, next, spot, number, isWhole);
    this.#owners.set(`${name} ${spot}`, by);
    this.now.set(name, next);
    return next;
  }
  #userMakes(name: string, next: string[] | undefined, spot: number, number: number, isWhole: boolean): void {
    const kept = this.alone.get(name);
    if (this.byAgent.has(name) && (isWhole || !kept || this.#owners.get(`${name} ${spot}`) === 'agent')) this.doubts.add(name);
    this.byUser.add(name);
    this.alone.set(name, next && kept && !isWhole ? kept.with(spot, `user ${number}`) : next);
  }
}

const play = async (desk: Desk, world: World, acts: readonly Act[]): Promise<void> => {
  for (const [number, act] of acts.entries()) {
    const existed = world.now.get(act.name) !== undefined;
    const next = world.next(act, number);
    if (next === null) continue;
    if (act.by === 'agent') await desk.turn(`step ${number}`, ...callsOf(act.how, act.name, next, existed));
    else if (next) desk.put(act.name, textOf(next));
    else rmSync(join(desk.cwd, act.name));
  }
};

/** Nothing of the user's that is there may be lost, and nothing of the agent's may be left; nothing comes twice. */
const checkDoubtful = (text: string | undefined, now: readonly string[] | undefined): void => {
  if (text === undefined) return expect(now?.filter((line) => line.startsWith('user')) ?? []).toEqual([]);
  const lines = text.split('\n').slice(0, -1);
  expect(lines).toHaveLength(LINES);
  expect(lines.filter((line) => line.startsWith('agent'))).toEqual([]);
  expect(lines).toEqual(expect.arrayContaining(now?.filter((line) => line.startsWith('user')) ?? []));
};

const check = (desk: Desk, world: World, said: string): void => {
  for (const name of NAMES) {
    const isNamed = /: (?:it|something else) /.test(said.split('\n').find((line) => line.startsWith(`  ${name}: `)) ?? '');
    // Left as it is, and only where the user has done something to it.
    if (isNamed) expect(world.byUser.has(name)).toBe(true);
    if (isNamed || !world.byAgent.has(name)) expect(desk.text(name)).toBe(shown(world.now.get(name)));
    else if (!world.doubts.has(name)) expect(desk.text(name)).toBe(shown(world.alone.get(name)));
    else checkDoubtful(desk.text(name), world.now.get(name));
  }
};

test.skipIf(!hasGit)('any series of changes of both', { timeout: 100_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 2, maxLength: 7 }), fc.subarray([...NAMES]), async (acts, present) => {
      await using desk = await openDesk({ git: true });
      desk.put('.keep', '');
      for (const name of present) desk.put(name, textOf(fresh()));
      desk.git('add', '.');
      desk.git('commit', '-qm', 'first');
      const before = desk.gitBytes();
      const world = new World(present);
      await play(desk, world, acts);
      check(desk, world, world.byAgent.size === 0 ? '' : await desk.command('rewind', '1'));
      expect(desk.gitBytes()).toEqual(before);
    }),
    { numRuns: 25, interruptAfterTimeLimit: 80_000 },
  );
});

const shown = (lines: readonly string[] | undefined): string | undefined => lines && textOf(lines);

const callsOf = (how: Act['how'], name: string, next: readonly string[] | undefined, existed: boolean): readonly (readonly [string, object])[] => {
  if (!next) return [['bash', { command: `rm '${name}'` }]];
  const content = textOf(next);
  if (how === 'bash') return [['bash', { command: `mkdir -p sub; printf '%s' '${content}' > '${name}'` }]];
  // What has changed since it was read is not overwritten.
  const read = existed ? [['read', { path: name }] as const] : [];
  return [...read, ['write', { path: name, content }]];
};
