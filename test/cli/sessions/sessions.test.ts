/** Commands on stored sessions, as processes, with what a run has left. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import type { SearchResult, SessionRecord } from '../../../kernel/index.ts';
import type { Place } from '../program.ts';
import { useCommand } from '../command.ts';

const { cast, project, provide } = useCommand();

const run = async (place: Place, prompt: string, reply: string, cwd = place.cwd): Promise<string> => {
  const provider = await provide({ text: reply });
  const outcome = await cast(['run', '-m', 'm', '--format', 'json', prompt], {
    place: { ...place, cwd },
    env: { CAST_BASE_URL: provider.url, CAST_API_KEY: 'k' },
  });
  expect(outcome).toMatchObject({ code: 0 });
  return (JSON.parse(outcome.stdout) as { sessionId: string }).sessionId;
};
const listed = async (place: Place, cwd: string, ...flags: string[]): Promise<string[]> => {
  const { stdout } = await cast(['sessions', 'list', '--json', '--cwd', cwd, ...flags], { place });
  return (JSON.parse(stdout) as SessionRecord[]).map(({ id }) => id);
};

describe('cast sessions', () => {
  test('search finds what was said, in this project or in all, and marks nothing that is no text', async () => {
    const place = project();
    const id = await run(place, 'Repair the login', 'The \u001b[31mtokenizer\u001b[0m was at fault');
    const found = await cast(['sessions', 'search', 'login', 'tokeniz'], { place });
    expect(found).toMatchObject({ code: 0 });
    expect(found.stdout).toContain(id);
    expect(found.stdout).not.toContain('\u001b');
    const json = JSON.parse((await cast(['sessions', 'search', '--json', 'okenize'], { place })).stdout) as SearchResult;
    expect(json).toMatchObject({ hits: [{ session: { id }, places: [{ seq: expect.any(Number) as number }] }], hasMore: false });
    expect((await cast(['sessions', 'search', 'login', '--cwd', place.home], { place })).stdout).toContain('--all');
    expect((await cast(['sessions', 'search', '--all', 'login', '--cwd', place.home], { place })).stdout).toContain(id);
    expect((await cast(['sessions', 'search'], { place })).code).toBe(3);
  });

  test('rename, pin and unpin change what is listed, and say so of an id that is not there', async () => {
    const place = project();
    const id = await run(place, 'first words', 'yes');
    expect(await cast(['sessions', 'rename', id, 'A', 'better\u001b[2J', 'title'], { place })).toMatchObject({ code: 0 });
    await cast(['sessions', 'pin', id], { place });
    const list = await cast(['sessions', 'list'], { place });
    expect(list.stdout).toContain('★ A better [2J title');
    await cast(['sessions', 'unpin', id], { place });
    expect((await cast(['sessions', 'list'], { place })).stdout).not.toContain('★');
    for (const args of [
      ['rename', 'nope', 'x'],
      ['pin', 'nope'],
      ['unpin', 'nope'],
      ['delete', '--yes', 'nope'],
      ['export', 'nope'],
    ]) {
      expect(await cast(['sessions', ...args], { place })).toMatchObject({ code: 3, stderr: expect.stringContaining('no session nope') });
    }
  });

  test('delete has to be confirmed, removes nothing beside a wrong id, and leaves alone what is being written', async () => {
    const place = project();
    const id = await run(place, 'one', 'yes');
    expect(await cast(['sessions', 'delete', id], { place })).toMatchObject({ code: 3, stderr: expect.stringContaining('--yes') });
    expect(await cast(['sessions', 'delete', '--yes', id, 'nope'], { place })).toMatchObject({ code: 3 });
    const db = new BetterSqlite3(join(place.castHome, 'sessions', 'sessions.db'));
    const { place: here, started } = db.prepare('SELECT place, started FROM leases').get() as { place: string | null; started: string | null };
    expect([here, started]).toEqual([null, null]);
    // As a process on another machine holds it, that was heard of just now.
    db.prepare("UPDATE leases SET pid = 1, place = 'elsewhere', beat_at = ?").run(Date.now());
    expect(await cast(['sessions', 'delete', '--yes', id], { place })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('being written by process 1'),
    });
    db.prepare('UPDATE leases SET pid = NULL, place = NULL').run();
    db.close();
    expect(await listed(place, place.cwd)).toEqual([id]);
    expect(await cast(['sessions', 'delete', '--yes', id], { place })).toMatchObject({ code: 0 });
    expect(await listed(place, place.cwd)).toEqual([]);
  });

  test('what is exported as JSON lines and imported elsewhere is the same, entry by entry', async () => {
    const place = project();
    const id = await run(place, 'one 👍', 'two');
    await cast(['sessions', 'rename', id, 'A title'], { place });
    const file = join(place.cwd, 'session.jsonl');
    expect(await cast(['sessions', 'export', id, '--format', 'jsonl', '-o', file], { place })).toMatchObject({ code: 0, stdout: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await cast(['sessions', 'export', id, '--format', 'jsonl', '-o', file], { place })).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('already'),
    });
    const other = project();
    expect(await cast(['sessions', 'import', file], { place: other })).toMatchObject({ code: 0, stdout: expect.stringContaining(id) });
    const rows = (of: Place): unknown => {
      const db = new BetterSqlite3(join(of.castHome, 'sessions', 'sessions.db'), { readonly: true });
      const all = ['SELECT * FROM entries ORDER BY seq', 'SELECT * FROM messages ORDER BY seq', 'SELECT id, title, head, messages, created_at FROM sessions'];
      const found = all.map((sql) => db.prepare(sql).all());
      db.close();
      return found;
    };
    expect(rows(other)).toEqual(rows(place));
    expect(await cast(['sessions', 'import', file], { place: other })).toMatchObject({ code: 0, stdout: expect.stringContaining('already') });
    expect((await cast(['sessions', 'search', '--all', 'two'], { place: other })).stdout).toContain(id);
  });

  test('a line that cannot be used is named, an id of another kind is kept, and a file of another kind refused', async () => {
    const place = project();
    const id = 'b8c5a5de-0f7e-4f52-9d0c-0a1b2c3d4e5f';
    const entry = (seq: number, text: string): string =>
      JSON.stringify({
        id: `e${seq}`,
        parent: seq > 1 ? `e${seq - 1}` : null,
        seq,
        at: 5,
        kind: 'message',
        data: { role: 'user', origin: 'user', blocks: [{ type: 'text', text }] },
      });
    const header = JSON.stringify({
      type: 'cast-session',
      version: 1,
      session: { id, kind: 'conversation', root: place.cwd, cwd: place.cwd, title: 'x' },
    });
    const file = join(place.cwd, 'in.jsonl');
    writeFileSync(
      file,
      [header, entry(1, 'good'), '{"torn', entry(2, 'fine'), entry(2, 'twice'), '{"id":"x","parent":null,"seq":9,"at":1,"kind":"odd","data":{}}'].join('\n'),
    );
    const outcome = await cast(['sessions', 'import', file], { place });
    expect(outcome).toMatchObject({ code: 1, stdout: expect.stringContaining(id) });
    for (const line of ['line 3 ', 'line 5 ', 'line 6 ']) expect(outcome.stderr).toContain(line);
    expect((await cast(['sessions', 'show', id], { place })).stdout).toMatch(/good[^]*fine/);
    for (const text of ['', 'hello', '{"type":"cast-session","version":99,"session":{}}', '\u0000\u0001']) {
      writeFileSync(file, text);
      expect(await cast(['sessions', 'import', file], { place })).toMatchObject({ code: 3 });
    }
    expect(await cast(['sessions', 'import', 'not-there'], { place })).toMatchObject({ code: 3 });
  });

  test("HTML is one file without network, script or anybody else's markup; Markdown cannot steer a terminal", async () => {
    const place = project();
    const id = await run(place, '</title><script>alert(1)</script> "q" \u001b[2J', '<img src=x onerror=alert(1)> & ```js\n~~~');
    const html = (await cast(['sessions', 'export', id, '--format', 'html'], { place })).stdout;
    expect(html).toMatch(/^<!doctype html>[^]*<\/html>\n$/);
    expect(html).not.toMatch(/<script|<img src=x|https?:\/\/|\p{Cc}(?<![\n\t])/u);
    expect(html).toContain('&#60;img src=x onerror=alert(1)&#62; &#38;');
    expect(html).toContain('prefers-color-scheme: dark');
    const markdown = (await cast(['sessions', 'export', id], { place })).stdout;
    expect(markdown).toContain('## Assistant');
    expect(markdown).not.toContain('\u001b');
  });
});

test('a session is gone on with from a worktree of its repository, and works in the folder where it worked', async () => {
  const place = project();
  const git = (...words: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
      cwd: place.cwd,
      stdio: 'ignore',
      env: { ...process.env, HOME: place.home },
    });
  git('init', '-q');
  git('commit', '-q', '--allow-empty', '-m', 'first');
  const tree = join(place.home, 'tree');
  git('worktree', 'add', '-q', tree);
  const id = await run(place, 'remember me', 'yes');
  expect(await listed(place, tree)).toEqual([id]);
  const provider = await provide({ text: 'still here' });
  const env = { CAST_BASE_URL: provider.url, CAST_API_KEY: 'k' };
  const outcome = await cast(['run', '-c', '-m', 'm', '--format', 'json', 'go on'], { place: { ...place, cwd: tree }, env });
  expect(JSON.parse(outcome.stdout)).toMatchObject({ sessionId: id, cwd: place.cwd });
  expect(provider.prompts()).toContain('remember me');
});

describe('B047: the sessions of a project stay with it', () => {
  test('B047: after git init, from a subfolder, through a symlink, and when the folder was moved', async () => {
    const place = project();
    const folder = join(place.home, 'work');
    mkdirSync(join(folder, 'src'), { recursive: true });
    const id = await run(place, 'remember me', 'yes', folder);
    expect(await listed(place, folder)).toEqual([id]);
    mkdirSync(join(folder, '.git', 'objects'), { recursive: true });
    mkdirSync(join(folder, '.git', 'refs'));
    writeFileSync(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    expect(await listed(place, folder)).toEqual([id]);
    expect(await listed(place, join(folder, 'src'))).toEqual([id]);
    const link = join(place.home, 'link');
    symlinkSync(folder, link);
    expect(await listed(place, link)).toEqual([id]);
    const moved = join(place.home, 'moved');
    rmSync(link);
    renameSync(folder, moved);
    expect(await listed(place, moved)).toEqual([id]);
    const [record] = JSON.parse((await cast(['sessions', 'list', '--json', '--cwd', moved], { place })).stdout) as SessionRecord[];
    expect(record).toMatchObject({ root: moved, cwd: moved });
    // A new folder of the old name is another project.
    mkdirSync(folder);
    expect(await listed(place, folder)).toEqual([]);
    expect(await listed(place, folder, '--all')).toEqual([id]);
    // It goes on where the project is now.
    expect(existsSync(moved)).toBe(true);
    const provider = await provide({ text: 'again' });
    const outcome = await cast(['run', '-c', '-m', 'm', '--format', 'json', 'go on'], {
      place: { ...place, cwd: moved },
      env: { CAST_BASE_URL: provider.url, CAST_API_KEY: 'k' },
    });
    expect(outcome).toMatchObject({ code: 0 });
    expect(JSON.parse(outcome.stdout)).toMatchObject({ sessionId: id, cwd: moved });
  });

  test('B047: in another letter case, where the file system does not tell them apart', async ({ skip }) => {
    const place = project();
    const folder = join(place.home, 'Work');
    mkdirSync(folder);
    if (!existsSync(join(place.home, 'wORK'))) skip('this file system tells letter cases apart');
    const id = await run(place, 'remember me', 'yes', folder);
    expect(await listed(place, join(place.home, 'wORK'))).toEqual([id]);
    expect(readFileSync(join(place.castHome, 'sessions', 'sessions.db')).length).toBeGreaterThan(0);
  });
});
