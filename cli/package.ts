/** The installed package: its version, and the files that come with it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Package {
  readonly root: string;
  readonly version: string;
}

/** The folder that the running file is in, bundled or not. */
const HERE = dirname(fileURLToPath(import.meta.url));

const findPackage = (): Package => {
  for (let dir = HERE; ; dir = dirname(dir)) {
    const file = join(dir, 'package.json');
    if (existsSync(file)) {
      const { name, version } = JSON.parse(readFileSync(file, 'utf8')) as { name?: string; version?: string };
      if (name === 'cast') return { root: dir, version: version ?? '0.0.0' };
    }
    if (dir === dirname(dir)) return { root: HERE, version: '0.0.0' };
  }
};

let found: Package | undefined;
const ownPackage = (): Package => (found ??= findPackage());

export const packageRoot = (): string => ownPackage().root;
export const packageVersion = (): string => ownPackage().version;

/** A folder that ships with cast: beside the built files, or among the sources when cast runs from them. */
export const shippedFolder = (name: string): string => {
  const root = packageRoot();
  const places = [join(HERE, name), join(root, 'dist', name), join(root, 'cli', name)];
  return places.find((place) => existsSync(place)) ?? join(root, 'dist', name);
};
