/** What older versions kept as files is taken in by the first start, once. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SessionRecord } from '../../../kernel/index.ts';
import { say } from '../../provider.ts';
import { useCommand } from '../command.ts';
import type { Place } from '../program.ts';

const { cast, project, provide } = useCommand();

const call = (id: string, name: string, input: object) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } });
const MESSAGES = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'user', content: 'Where is the walrus?' },
  { role: 'assistant', content: null, tool_calls: [call('c1', 'grep', { pattern: 'walrus' }), call('c2', 'read', { path: 'a' })] },
  { role: 'tool', tool_call_id: 'c1', content: 'zoo.txt:1:walrus' },
  { role: 'tool', tool_call_id: 'c2', content: 'no such file', isError: true },
  { role: 'assistant', content: 'In zoo.txt.', reasoning_content: 'I looked.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'And now?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ],
  },
  { role: 'assistant', content: 'Still there.' },
  { role: 'tool', tool_call_id: 'gone', content: 'an answer to nothing' },
];
const about = (id: string, cwd?: string) => ({
  id,
  ...(cwd === undefined ? {} : { cwd }),
  title: `Session ${id}`,
  model: 'old-model',
  createdAt: '2024-03-01T10:00:00.000Z',
  updatedAt: Date.parse('2024-03-02T10:00:00.000Z'),
  usage: { promptTokens: 1_000, completionTokens: 200, cost: 0.5 },
});
const put = (place: Place, folder: string, name: string, text: string): string => {
  const file = join(place.castHome, 'sessions', folder, name);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  return file;
};
const json = (id: string, cwd?: string, messages: readonly object[] = MESSAGES): string => JSON.stringify({ ...about(id, cwd), messages });
const listed = async (place: Place): Promise<readonly SessionRecord[]> =>
  JSON.parse((await cast(['sessions', 'list', '--all', '--json'], { place })).stdout) as readonly SessionRecord[];
const dashed = (path: string): string => path.replaceAll('/', '-');

test('files of both kinds are taken in with their dates, and go on where they were', async () => {
  const place = project();
  const files = [
    put(place, dashed(place.cwd), 'one.json', json('oldone', undefined)),
    put(
      place,
      encodeURIComponent(place.home),
      'two.jsonl',
      [about('oldtwo'), ...MESSAGES].map((line) => JSON.stringify(line)).join('\n') + '\n{"role":"user","con',
    ),
    put(
      place,
      'anything',
      'three.json',
      '\ufeff' +
        json('oldthree', place.cwd)
          .replace('2024-03-02', '2024-03-05')
          .replace(String(Date.parse('2024-03-02T10:00:00.000Z')), '1709700000000'),
    ),
    put(place, 'anything', 'nameless.json', JSON.stringify({ messages: MESSAGES })),
    put(place, 'anything', 'broken.json', '{"id":"brok'),
    put(place, 'anything', 'notes.txt', 'no session'),
  ];
  const before = files.map((file) => [readFileSync(file, 'utf8'), statSync(file).mtimeMs]);
  expect((await cast(['--version'], { place })).stderr).toBe('');
  const first = await cast(['sessions', 'list', '--all', '--json'], { place });
  expect(first.stderr).toContain('3 sessions of an older version were taken in');
  expect(first.stderr).toMatch(/1 file of older sessions cannot be read: .*broken\.json \(it is no session\)\./);
  const found = JSON.parse(first.stdout) as readonly SessionRecord[];
  expect(found.map(({ id, cwd, title, updatedAt, messages }) => ({ id, cwd, title, updatedAt, messages }))).toEqual([
    { id: 'oldthree', cwd: place.cwd, title: 'Session oldthree', updatedAt: 1_709_700_000_000, messages: 4 },
    { id: 'oldtwo', cwd: place.home, title: 'Session oldtwo', updatedAt: Date.parse('2024-03-02T10:00:00.000Z'), messages: 4 },
    { id: 'oldone', cwd: place.cwd, title: 'Session oldone', updatedAt: Date.parse('2024-03-02T10:00:00.000Z'), messages: 4 },
  ]);
  expect(files.map((file) => [readFileSync(file, 'utf8'), statSync(file).mtimeMs])).toEqual(before);

  const search = JSON.parse((await cast(['sessions', 'search', '--all', '--json', 'walrus'], { place })).stdout) as { hits: unknown[] };
  expect(search.hits).toHaveLength(3);
  expect((await cast(['sessions', 'show', 'oldone'], { place })).stdout).toMatch(/Where is the walrus\?[\s\S]*In zoo\.txt\.[\s\S]*Still there\./);

  const provider = await provide(say('It left.'));
  const run = await cast(['run', '-c', 'Where did it go?'], { place, provider });
  expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining('taken in')]);
  const sent = provider.requests[0]?.body.messages.filter(
    ({ role, content }) => role !== 'system' && !JSON.stringify(content ?? '').startsWith('"<'),
  ) as readonly {
    role: string;
    tool_calls?: { id: string }[];
    tool_call_id?: string;
  }[];
  expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool', 'assistant', 'user', 'assistant', 'user']);
  expect(sent[1]?.tool_calls?.map(({ id }) => id)).toEqual(sent.slice(2, 4).map((message) => message.tool_call_id));
  expect((await listed(place))[0]?.id).toBe('oldthree');
});

test('what was compacted away stays stored and is not sent', async () => {
  const place = project();
  const messages = MESSAGES.map((message, index) => ({ ...message, in_context: index === 0 || index > 5 }));
  put(place, dashed(place.cwd), 'one.json', json('oldone', undefined, messages));
  const provider = await provide(say('Yes.'));
  await cast(['run', '-c', 'Are you there?'], { place, provider });
  const sent = JSON.stringify(provider.requests[0]?.body.messages);
  expect(sent).toContain('And now?');
  expect(sent).not.toContain('zoo.txt');
  expect((await cast(['sessions', 'show', 'oldone'], { place })).stdout).toContain('Where is the walrus?');
});

test('once: what comes later is left for `sessions import`, and two starts at a time take each in once', async () => {
  const place = project();
  for (let number = 0; number < 12; number += 1) put(place, dashed(place.cwd), `${number}.json`, json(`old${number}`));
  const both = await Promise.all([cast(['sessions', 'list', '--all', '--json'], { place }), cast(['sessions', 'list', '--all', '--json'], { place })]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await listed(place)).toHaveLength(12);
  expect(statSync(join(place.castHome, 'sessions', 'older-sessions.json')).mode & 0o777).toBe(0o600);
  const late = put(
    place,
    dashed(place.cwd),
    'late.json',
    json('oldlate')
      .replace(/1709\d+/, '1577880000000')
      .replace('2024', '2020'),
  );
  expect(await listed(place)).toHaveLength(12);
  const found = async (): Promise<string> => (await cast(['sessions', 'search', '--all', '--limit', '50', 'walrus'], { place })).stdout;
  expect(await found()).not.toContain('oldlate');
  const imported = await cast(['sessions', 'import', late], { place });
  expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining('oldlate is taken in')]);
  expect((await cast(['sessions', 'import', late], { place })).stdout).toContain('here already');
  expect((await listed(place)).map(({ id }) => id)).toContain('oldlate');
  expect(await found()).toContain('oldlate');
});

test('what they used is told with all the rest', async () => {
  const place = project();
  put(place, dashed(place.cwd), 'one.json', json('oldone'));
  const told = await cast(['run', '-m', 'm', '-s', 'oldone', '/usage'], { place, env: { CAST_BASE_URL: 'http://127.0.0.1:9/v1' } });
  expect(told.stdout, told.stderr).toMatch(/old-model.*1[,.]?200/);
});

test('a run that keeps nothing takes nothing in', async () => {
  const place = project();
  put(place, dashed(place.cwd), 'one.json', json('oldone'));
  const provider = await provide(say('ok'));
  expect((await cast(['run', '--no-session', 'go'], { place, provider })).stderr).not.toContain('taken in');
});
