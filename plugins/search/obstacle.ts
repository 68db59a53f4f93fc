import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { entriesOf } from './entries.ts';
import { onDisk } from './name.ts';
import { Pace } from './pace.ts';
import type { Desk } from './place.ts';
import type { Query } from './query.ts';
import { isIgnored, type Level, levelOf, personalFiles, RULE_NAMES, ruleFiles, SKIPPED } from './rules.ts';

/** Whether a file of rules that ripgrep reads for this place or one above it is a pipe or a device: it would wait for it for ever. */
export const hasObstacleAbove = async ({ rules }: Query, { environment }: Desk): Promise<boolean> => {
  const files = [...(await personalFiles(environment))];
  for (let folder = rules.level.folder; ; folder = dirname(folder)) {
    files.push(...(await ruleFiles(folder)));
    if (folder === dirname(folder)) break;
  }
  return areObstacles(files);
};

/** The same for all folders below it. */
export const hasObstacleBelow = async (query: Query, desk: Desk): Promise<boolean> => {
  const pace = new Pace(query.signal, desk);
  const look = async (folder: string, level: Level): Promise<boolean> => {
    if (pace.isOver) await pace.turn();
    const entries = entriesIn(folder);
    const hasRules = folder !== query.path && entries.some(({ name }) => RULE_NAMES.has(name));
    if (hasRules && (await areObstacles(await ruleFiles(folder)))) return true;
    const own = hasRules ? await levelOf(folder, level, query.rules.isGit) : level;
    const folders = entries.filter(({ name, isFolder }) => isFolder && !SKIPPED.has(name) && !isIgnored(query.rules, own, join(folder, name), true));
    for (const { name } of folders) if (await look(join(folder, name), own)) return true;
    return false;
  };
  return look(query.path, query.rules.level);
};

const areObstacles = async (files: readonly string[]): Promise<boolean> => (await Promise.all(files.map(isObstacle))).some(Boolean);

const isObstacle = (file: string): Promise<boolean> =>
  stat(onDisk(file)).then(
    (found) => !found.isFile() && !found.isDirectory(),
    () => false,
  );

const entriesIn = (folder: string): ReturnType<typeof entriesOf> => {
  try {
    return entriesOf(folder);
  } catch {
    return [];
  }
};
