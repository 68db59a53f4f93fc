import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Beat, createTestSession, say, use } from '../../../../kernel/testkit/index.ts';
import files from '../../../../plugins/files/index.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cast-hashline-')));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

/** A model that copies the anchor of a line from what it was shown last. */
const editLine = (text: string, content: string): Beat =>
  function* (request, signal) {
    const seen = JSON.stringify(request.messages.at(-1));
    const anchor = new RegExp(`\\d+:[a-z]{3}:[a-z]{3}(?=→${text})`).exec(seen)?.[0] ?? 'none';
    yield* use('edit', { filePath: 'a.txt', ops: [{ op: 'replace', anchor, content }] })(request, signal) as Iterable<never>;
  };

test('a model reads, edits, and edits again with the anchors of the answer', async () => {
  writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\nthree\n');
  const script = [use('read', { path: 'a.txt' }), editLine('two', '2\n2.5'), editLine('2.5', 'half'), say('done')];
  await using session = await createTestSession({ plugins: { files }, config: { plugins: { files: { mode: 'hashline' } } }, cwd, script });
  await session.run('edit it');
  expect(session.results().map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n2\nhalf\nthree\n');
  const cards = session.requests[0]?.tools ?? [];
  expect(cards.find(({ name }) => name === 'read')?.description).toContain('LINE:LOCAL:CHUNK→text');
  expect(Object.keys((cards.find(({ name }) => name === 'edit')?.input['properties'] ?? {}) as object)).toEqual(['filePath', 'ops']);
});

test('without the option nothing is anchored, and an unknown mode is named', async () => {
  writeFileSync(join(cwd, 'a.txt'), 'one\n');
  await using session = await createTestSession({ plugins: { files }, cwd, script: [use('read', { path: 'a.txt' }), say('done')] });
  await session.run('read it');
  expect(JSON.stringify(session.results()[0]?.content)).toContain('1: one');
  await expect(createTestSession({ plugins: { files }, config: { plugins: { files: { mode: 'lines' as never } } }, cwd, script: [] })).rejects.toThrow(/mode/);
});
