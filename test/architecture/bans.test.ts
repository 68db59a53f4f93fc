/** Nothing of the sources does what is banned, and each ban is seen to catch. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BANS, breachesIn, excuseOf } from './bans.ts';
import { filesBelow, FIXTURES, parse } from './sources.ts';

const files = ['kernel', 'plugins', 'cli'].flatMap((folder) => filesBelow(folder));
const breaches = files.flatMap((file) => breachesIn(parse(file)).map((finding) => ({ ...finding, file, excuse: excuseOf(finding.ban, file) })));

test('there are sources to look at', () => {
  expect(files.length).toBeGreaterThan(100);
});

test('no file does what is banned', () => {
  const unexcused = breaches.filter(({ excuse }) => excuse === undefined);
  expect(unexcused.map(({ file, line, ban }) => `${file}:${line} ${ban}: ${BANS[ban]?.why ?? 'say why, or mend it'}`)).toEqual([]);
});

test('every exception is still needed', () => {
  const used = new Set(breaches.map(({ ban, excuse }) => `${ban}: ${excuse}`));
  const listed = Object.entries(BANS).flatMap(([ban, { allowed }]) => Object.keys(allowed).map((path) => `${ban}: ${path}`));
  expect(listed.filter((entry) => !used.has(entry))).toEqual([]);
});

test('each ban catches its lines of the fixture, and no other line', () => {
  const text = readFileSync(join(FIXTURES, 'every-ban.ts.txt'), 'utf8');
  const expected = text.split('\n').flatMap((line, index) => {
    const names = / \/\/ trips: (.*)$/.exec(line)?.[1];
    return names === undefined ? [] : names.split(', ').map((ban) => `${index + 1} ${ban}`);
  });
  const found = breachesIn(parse('every-ban.ts', text)).map(({ line, ban }) => `${line} ${ban}`);
  expect(found.sort()).toEqual(expected.sort());
  const untried = Object.keys(BANS).filter((ban) => !expected.some((entry) => entry.endsWith(` ${ban}`)));
  expect(untried).toEqual([]);
});
