import type { BigIntStats } from 'node:fs';
import { decodeFile, encodeFile } from '../encoding.ts';
import { MAX_LINES, type Window, windowOf } from '../page.ts';
import type { LineCache } from './line-cache.ts';
import { LineTable } from './line-table.ts';

interface Loaded {
  readonly bytes: Buffer;
  readonly stat: BigIntStats;
}

/** The lines of a text, from the cache where `stat` says that the file is as it was; undefined when it is binary. */
export const openLines = async (
  cache: LineCache,
  path: string,
  stat: BigIntStats,
  load: () => Promise<Loaded>,
): Promise<(Loaded & { readonly table: LineTable }) | undefined> => {
  const held = cache.get(path, stat);
  const bytes = held && encodeFile(held.file, held.file.text);
  if (held && bytes) return { table: held, bytes, stat };
  const loaded = await load();
  const file = await decodeFile(loaded.bytes);
  if (!file) return undefined;
  const table = new LineTable(file);
  // Files of the system have another size than they say, and change without a sign.
  if (loaded.stat.size === BigInt(loaded.bytes.length)) cache.put(path, loaded.stat, table);
  return { ...loaded, table };
};

/** A page of them, without taking all of the others apart. */
export const windowOfTable = (table: LineTable, offset: number, limit: number): Window => {
  const text = table.slice(offset - 1, Math.min(table.count, offset - 1 + Math.min(limit, MAX_LINES)));
  return { ...windowOf(`${table.file.encoding.outward(text)}\n`, 1, limit), total: table.count };
};
