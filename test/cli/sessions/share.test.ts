/** A session as a page for others. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { useCommand } from '../command.ts';
import type { Place } from '../program.ts';

const { cast, project } = useCommand();

const SAVED = 'saved-secret-7f3a<b>';
const FROM_ENVIRONMENT = 'sk-from-the-environment-42';
const call = (id: string, name: string, input: object) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } });

/** As if it had come from elsewhere, so that nothing in it was masked when it was stored. */
const withSession = async (): Promise<Place> => {
  const place = project();
  mkdirSync(join(place.castHome), { recursive: true });
  writeFileSync(join(place.castHome, 'secrets.json'), JSON.stringify({ work: SAVED }), { mode: 0o600 });
  const messages = [
    { role: 'system', content: 'SYSTEM WORDS' },
    { role: 'user', content: `</title><script>alert(1)</script> key ${FROM_ENVIRONMENT} in ${place.home}/notes.txt` },
    { role: 'assistant', content: 'I look.', reasoning: 'PRIVATE THOUGHT', tool_calls: [call('c1', 'read', { path: `${place.home}/notes.txt` })] },
    { role: 'tool', tool_call_id: 'c1', content: `the file says ${SAVED} \u001b[2J` },
    { role: 'assistant', content: 'It is [a link](javascript:alert(2)).' },
  ];
  const file = join(place.cwd, 'old.json');
  writeFileSync(
    file,
    JSON.stringify({ id: 'shared', cwd: join(place.home, 'app'), title: `In ${place.home}`, model: 'm', createdAt: 1_700_000_000_000, messages }),
  );
  expect((await cast(['sessions', 'import', file], { place })).code).toBe(0);
  return place;
};
const share = (place: Place, ...flags: readonly string[]) =>
  cast(['sessions', 'share', 'shared', ...flags], { place, env: { CAST_API_KEY: FROM_ENVIRONMENT } });

test('holds what was said and done, and nothing that is nobody else’s business', async () => {
  const place = await withSession();
  const outcome = await share(place);
  expect([outcome.code, outcome.stdout]).toEqual([0, expect.stringContaining('cast-shared.html')]);
  const file = join(place.cwd, 'cast-shared.html');
  const page = readFileSync(file, 'utf8');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  for (const text of ['I look.', '→ read', 'the file says', '~/notes.txt', 'In ~', 'javascript:alert(2)']) expect(page).toContain(text);
  for (const text of ['SYSTEM WORDS', 'PRIVATE THOUGHT', place.home, FROM_ENVIRONMENT, 'saved-secret', '<script']) expect(page).not.toContain(text);
  expect(page).not.toMatch(/https?:\/\/|\p{Cc}(?<![\n\t])|href=/u);
  expect(page).toMatch(/default-src 'none'[\s\S]*prefers-color-scheme: dark/);
});

test('without tools, by a name of its own, and never over a file that is there', async () => {
  const place = await withSession();
  expect((await share(place, '--talk-only', '-o', 'talk.html')).code).toBe(0);
  const page = readFileSync(join(place.cwd, 'talk.html'), 'utf8');
  expect(page).toContain('I look.');
  expect(page).not.toMatch(/→ read|the file says/);
  writeFileSync(join(place.cwd, 'mine.html'), 'mine');
  const refused = await share(place, '-o', 'mine.html');
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('is there already')]);
  expect(readFileSync(join(place.cwd, 'mine.html'), 'utf8')).toBe('mine');
  expect((await cast(['sessions', 'share', 'nothing'], { place })).code).toBe(3);
  expect(existsSync(join(place.cwd, 'cast-nothing.html'))).toBe(false);
});
