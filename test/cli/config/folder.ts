/** Temporary folders with files in them, removed after the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { readSettings, type ReadOptions, type ReadSettings } from '../../../cli/config/read.ts';

export type Files = Readonly<Record<string, string | object>>;

export const fill = (dir: string, files: Files): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
};

export const folder = (files: Files = {}): string => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'cast-config-')));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  fill(dir, files);
  return dir;
};

/** A git repository as far as its root is concerned. */
export const repository = (files: Files = {}): string => folder({ '.git/HEAD': 'ref: refs/heads/main\n', ...files });

/** Reads a trusted project unless told otherwise. */
export const read = (root: string, more: Partial<ReadOptions> = {}): Promise<ReadSettings> =>
  readSettings({
    cwd: root,
    root,
    castHome: join(root, 'no-such-home'),
    environment: {},
    flags: {},
    trust: { decision: 'trusted', gated: { code: {}, text: [] } },
    ...more,
  });
