/** Where a tap was written: the position in a built file, followed through its source map where there is one. */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { packageRoot } from './package.ts';

export interface SourceNames {
  /** `plugins/bash/index.ts:31`: relative to cast's own folder or to `cwd`, absolute when it lies in neither. */
  nameOf(place: string): string;
}

export const createSourceNames = (cwd: string): SourceNames => {
  const root = packageRoot();
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (file: string): SourceMap | undefined => {
    if (!maps.has(file)) maps.set(file, readMap(`${file}.map`));
    return maps.get(file);
  };
  return {
    nameOf: (place) => {
      const [, file, line, column] = /^(.*):(\d+):(\d+)$/.exec(place) ?? [];
      if (file === undefined) return place;
      // Positions in stacks count from 1, those in maps from 0.
      const entry = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
      const isMapped = entry !== undefined && 'originalSource' in entry && typeof entry.originalSource === 'string';
      const original = isMapped ? resolve(dirname(file), entry.originalSource) : file;
      return `${shorten(original, [root, cwd])}:${isMapped ? entry.originalLine + 1 : line}`;
    },
  };
};

const readMap = (file: string): SourceMap | undefined => {
  if (!existsSync(file)) return undefined;
  try {
    return new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
};

const shorten = (file: string, folders: readonly string[]): string => {
  const inside = folders.map((folder) => relative(folder, file)).find((path) => path !== '' && !path.startsWith('..') && !isAbsolute(path));
  return (inside ?? join(file)).split(sep).join('/');
};
