/** Where paths lead, and what happens when that changes between the check and the use. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestSession, say, use } from '../../../kernel/testkit/index.ts';
import files from '../../../plugins/files/index.ts';
import { openRegular } from '../../../plugins/files/target.ts';
import permissions from '../../../plugins/permissions/index.ts';
import shell from '../../../plugins/shell/index.ts';
import { type Desk, type Meanwhile, openDesk } from './desk.ts';

let desks: Desk[] = [];
beforeEach(() => {
  desks = [];
});
afterEach(() => {
  for (const desk of desks) desk.remove();
});
const open = (meanwhile?: Meanwhile): Desk => {
  const desk = openDesk(meanwhile);
  desks.push(desk);
  return desk;
};

describe('a folder is swapped for a link to another one', () => {
  /** Outside of the working directory lies what must be neither read nor changed. */
  const prepare = (when?: keyof Meanwhile): { readonly desk: Desk; readonly outside: string; readonly swap: () => void } => {
    let isDone = false;
    const swap = (): void => {
      if (isDone || !existsSync(join(desk.cwd, 'sub'))) return;
      isDone = true;
      renameSync(join(desk.cwd, 'sub'), join(desk.cwd, 'moved'));
      symlinkSync(outside, join(desk.cwd, 'sub'));
    };
    const desk = open(when && { [when]: (path?: string) => path !== '.' && swap() });
    const outside = join(desk.cwd, '..', 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'a.txt'), 'secret\n');
    desk.put('sub/a.txt', 'mine\n');
    // Even a file that is removed again leaves the time of its folder changed.
    utimesSync(outside, 1000, 1000);
    return { desk, outside, swap };
  };
  const isUntouched = (outside: string): void => {
    expect(readdirSync(outside)).toEqual(['a.txt']);
    if (process.platform === 'linux') expect(statSync(outside).mtimeMs).toBe(1_000_000);
    expect(readFileSync(join(outside, 'a.txt'), 'utf8')).toBe('secret\n');
  };

  test.each([
    ['read', { path: 'sub/a.txt' }],
    ['write', { path: 'sub/a.txt', content: 'new\n' }],
    ['write', { path: 'sub/new.txt', content: 'new\n' }],
    ['write', { path: 'sub/deep/er/new.txt', content: 'new\n' }],
    ['edit', { filePath: 'sub/a.txt', oldString: 'secret', newString: 'known' }],
    ['edit', { filePath: 'sub/new.txt', oldString: '', newString: 'new\n' }],
  ] as const)('after the check of %s %o', async (tool, input) => {
    const { desk, outside } = prepare('looked');
    const result = await desk.run(tool, input as never);
    expect(result.content).not.toContain('secret');
    expect(result).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
    isUntouched(outside);
  });

  test('after the check of reading a folder', async () => {
    const { desk, outside } = prepare('looked');
    mkdirSync(join(outside, 'below'));
    writeFileSync(join(outside, 'below/theirs.txt'), '');
    desk.put('sub/below/mine.txt', '');
    expect(await desk.run('read', { path: 'sub/below' })).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
    expect((await desk.run('read', { path: 'moved/below' })).content).toBe('mine.txt');
  });

  test.each([
    ['write', { path: 'sub/a.txt', content: 'new\n' }],
    ['write', { path: 'sub/new.txt', content: 'new\n' }],
    ['edit', { filePath: 'sub/a.txt', oldString: 'mine', newString: 'new' }],
  ] as const)('in the middle of %s %o', async (tool, input) => {
    const isLeft = (desk: Desk, outside: string): void => {
      isUntouched(outside);
      expect(readdirSync(join(desk.cwd, 'moved'))).toEqual(['a.txt']);
      expect(desk.text('moved/a.txt')).toBe('mine\n');
    };
    const early = prepare('drafting');
    expect(await early.desk.run(tool, input as never)).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
    isLeft(early.desk, early.outside);

    // The signal is asked once more when the new content lies beside its place.
    const late = prepare();
    const { signal } = new AbortController();
    const hasDraft = (): boolean => readdirSync(join(late.desk.cwd, 'sub')).some((name) => name.startsWith('.cast-'));
    Object.defineProperty(signal, 'throwIfAborted', { value: () => hasDraft() && late.swap() });
    expect(await late.desk.run(tool, input as never, { signal })).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
    isLeft(late.desk, late.outside);
  });
});

describe('something appears where a file is to be made', () => {
  test.each([
    ['a file', (path: string) => writeFileSync(path, 'theirs')],
    ['a link', (path: string) => symlinkSync('/etc/hostname', path)],
    ['a link to nothing', (path: string) => symlinkSync('nowhere', path)],
  ])('%s', async (_name, appear) => {
    const desk = open({ drafting: () => appear(join(desk.cwd, 'a.txt')) });
    expect(await desk.run('write', { path: 'a.txt', content: 'mine' })).toMatchObject({ status: 'error', error: { code: 'CONFLICT', retryable: true } });
    expect(readdirSync(desk.cwd)).toEqual(['a.txt']);
    expect(existsSync(join(desk.cwd, 'nowhere'))).toBe(false);
  });
});

test.each([
  ['changed', (path: string) => writeFileSync(path, 'theirs')],
  [
    'replaced by another of the same content',
    (path: string) => {
      writeFileSync(`${path}.new`, 'old');
      renameSync(`${path}.new`, path);
    },
  ],
  ['removed', (path: string) => rmSync(path)],
])('a file that is %s while the new content is prepared is not overwritten', async (_name, happen) => {
  let after: string | undefined;
  const desk = open({
    drafting: () => {
      happen(join(desk.cwd, 'a.txt'));
      after = existsSync(join(desk.cwd, 'a.txt')) ? desk.text('a.txt') : undefined;
    },
  });
  desk.put('a.txt', 'old');
  expect(await desk.run('write', { path: 'a.txt', content: 'mine' })).toMatchObject({ status: 'error', error: { code: 'CONFLICT' } });
  expect(existsSync(join(desk.cwd, 'a.txt')) ? desk.text('a.txt') : undefined).toBe(after);
});

describe('a file is swapped for something that blocks', () => {
  test('after the look at where its path leads', async () => {
    const desk = open({
      looked: (path) => {
        if (path !== 'a.txt' || !desk.bytes('a.txt').equals(Buffer.from('text'))) return;
        rmSync(join(desk.cwd, 'a.txt'));
        execFileSync('mkfifo', [join(desk.cwd, 'a.txt')]);
      },
    });
    desk.put('a.txt', 'text');
    expect(await desk.run('read', { path: 'a.txt' })).toMatchObject({ status: 'error', content: 'a.txt is a pipe, not a regular file.' });
  });
  test('even after the look at what it is: what was opened is looked at again', async () => {
    const desk = open();
    execFileSync('mkfifo', [join(desk.cwd, 'pipe')]);
    const startedAt = performance.now();
    await expect(openRegular(join(desk.cwd, 'pipe'), 'pipe')).rejects.toThrow('pipe is a pipe, not a regular file.');
    await expect(openRegular('/dev/zero', 'zero')).rejects.toThrow('zero is a device, not a regular file.');
    await expect(openRegular(desk.cwd, 'folder')).rejects.toThrow('folder is a folder.');
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });
  test('a link in the place of the file is not followed', async () => {
    const desk = open();
    desk.put('a.txt', 'text');
    symlinkSync('a.txt', join(desk.cwd, 'link'));
    await expect(openRegular(join(desk.cwd, 'link'), 'link')).rejects.toThrow();
  });
});

describe('one file under several spellings', () => {
  const spellings = (desk: Desk): readonly string[] => ['a.txt', './sub/../a.txt', 'missing/../a.txt', join(desk.cwd, 'a.txt'), 'alias/a.txt', 'link.txt'];
  const prepare = (): Desk => {
    const desk = open();
    mkdirSync(join(desk.cwd, 'sub'));
    symlinkSync('.', join(desk.cwd, 'alias'));
    symlinkSync('a.txt', join(desk.cwd, 'link.txt'));
    desk.put('a.txt', 'old\n');
    return desk;
  };
  test('is one place for whoever orders the calls', async () => {
    const desk = prepare();
    for (const [index, path] of spellings(desk).entries()) {
      expect((await desk.run('edit', { filePath: path, oldString: index === 0 ? 'old' : `v${index - 1}`, newString: `v${index}` })).changed).toEqual([
        join(desk.cwd, 'a.txt'),
      ]);
    }
    expect(readdirSync(desk.cwd).sort()).toEqual(['a.txt', 'alias', 'link.txt', 'sub']);
  });
  test('is known by all of them to have been read', async () => {
    for (const index of [1, 2, 3, 4, 5]) {
      const desk = prepare();
      const [first = '', other = ''] = [spellings(desk)[0], spellings(desk)[index]];
      await desk.run('read', { path: first });
      desk.put('a.txt', 'theirs\n');
      expect(await desk.run('write', { path: other, content: 'mine\n' }), other).toMatchObject({ error: { code: 'CONFLICT' } });
      expect(desk.text('a.txt')).toBe('theirs\n');
    }
  });
});

test('.. behind a link is the parent of its target, and behind something missing it is not', async () => {
  const desk = open();
  mkdirSync(join(desk.cwd, '../other/deep'), { recursive: true });
  symlinkSync('../other/deep', join(desk.cwd, 'link'));
  const write = async (path: string): Promise<unknown> => (await desk.run('write', { path, content: 'x' })).changed;
  expect(await write('link/../a.txt')).toEqual([join(desk.cwd, '../other/a.txt')]);
  expect(await write('none/../b.txt')).toEqual([join(desk.cwd, 'b.txt')]);
  expect(await write('none/link/../c.txt')).toEqual([join(desk.cwd, 'none/c.txt')]);
  expect(await write('none/../link/d.txt')).toEqual([join(desk.cwd, '../other/deep/d.txt')]);
});

describe('B069: a path that only seems to be in the workspace', () => {
  let top: string;
  beforeEach(() => {
    top = realpathSync(mkdtempSync(join(tmpdir(), 'cast-places-')));
    for (const folder of ['ws', 'ws/sub', 'O', 'ws-evil', 'temporary']) mkdirSync(join(top, folder));
    // Temporary files may be written, and these would be some.
    vi.stubEnv('TMPDIR', join(top, 'temporary'));
    symlinkSync(join(top, 'O/new'), join(top, 'ws/d'));
    symlinkSync(join(top, 'O'), join(top, 'ws/out'));
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(top, { recursive: true, force: true });
  });

  test.each(['d', 'd/below.txt', 'sub/../../O/x', 'none/../../O/x', '../ws-evil/x', 'out/x', 'out/new/x', 'sub/../out/x'])('B069: %s', async (path) => {
    const cwd = join(top, 'ws');
    await using session = await createTestSession({
      plugins: { files, permissions, shell },
      cwd,
      script: [use(['write', { path, content: 'x' }], ['edit', { filePath: path, oldString: '', newString: 'x' }]), say('done')],
    });
    await session.run('go');
    expect(session.results().map(({ status }) => status)).toEqual(['denied', 'denied']);
    expect([readdirSync(join(top, 'O')), readdirSync(join(top, 'ws-evil'))]).toEqual([[], []]);
  });
});
