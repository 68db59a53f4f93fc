import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestSession, say, use } from '../../../kernel/testkit/index.ts';
import search from '../../../plugins/search/index.ts';
import { putInto } from '../../tool-call.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cast-search-')));
  putInto(cwd, 'src/a.ts', 'one\nconst hit = 1;\n');
  putInto(cwd, 'b.txt', 'hit\n');
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

test.each(['ripgrep', 'walk'] as const)('with %s a model finds text, files and folders, and a surface is told how to draw it', async (engine) => {
  const script = [use(['grep', { pattern: 'hit' }], ['glob', { pattern: '*.ts' }], ['ls', { path: 'src' }]), say('done')];
  await using session = await createTestSession({ plugins: { search }, config: { plugins: { search: { engine } } }, cwd, script });
  await session.run('look');
  expect(session.results().map(({ content }) => content)).toEqual([
    'b.txt:1:hit\nsrc/a.ts:2:const hit = 1;',
    'src/a.ts\n(So few files: read one of them rather than search on.)',
    'f 19 a.ts',
  ]);
  const ended = [...session.events('tool.ended')].sort((a, b) => (a.id < b.id ? -1 : 1));
  expect(ended.map(({ view }) => view)).toEqual([
    { kind: 'code', text: 'b.txt:1:hit\nsrc/a.ts:2:const hit = 1;' },
    { kind: 'text', text: 'src/a.ts\n(So few files: read one of them rather than search on.)' },
    { kind: 'code', text: 'f 19 a.ts' },
  ]);
});

test('`find` is glob; `search` is told to be grep', async () => {
  const script = [use(['find', { pattern: '*.ts' }], ['search', { pattern: 'hit' }]), say('done')];
  await using session = await createTestSession({ plugins: { search }, cwd, script });
  await session.run('look');
  const [found, searched] = session.results();
  expect(found).toMatchObject({ status: 'ok', content: expect.stringMatching(/^src\/a\.ts\n/) as string });
  expect(session.events('tool.started')[0]).toMatchObject({ tool: 'glob' });
  expect(searched).toMatchObject({ status: 'error', content: expect.stringContaining('grep') as string });
});

test('arguments with a raw line feed are mended, those with a wrong limit are refused', async () => {
  const script = [use(['grep', '{"pattern": "hit\n"}'], ['grep', { pattern: 'hit', limit: 0 }], ['grep', { pattern: 'hit', context: -1 }]), say('done')];
  await using session = await createTestSession({ plugins: { search }, cwd, script });
  await session.run('look');
  const [mended, ...refused] = session.results();
  expect(mended?.content).toContain('line feed');
  expect(refused.map(({ status }) => status)).toEqual(['error', 'error']);
  for (const result of refused) expect(result.content).toMatch(/limit|context/);
});
