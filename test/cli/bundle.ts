/** The command as a program: what was built, when it is newer than every source, else a bundle made for these tests. */
import { mkdtempSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SOURCES = ['kernel', 'plugins', 'cli'];

export interface Bundle {
  /** To be run by node. */
  readonly file: string;
  remove(): void;
}

export const bundleCommand = async (): Promise<Bundle> => {
  const built = join(ROOT, 'dist', 'cli.js');
  if (timeOf(built) > newestOf(SOURCES.map((folder) => join(ROOT, folder)))) return { file: built, remove: () => undefined };
  // Inside of the checkout, so that native packages and the demo are found from there.
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache', 'command-'));
  await build({
    entryPoints: [join(ROOT, 'cli', 'cli.ts')],
    outdir: folder,
    bundle: true,
    splitting: true,
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    external: ['better-sqlite3', 'jiti', '@vscode/ripgrep'],
    outExtension: { '.js': '.mjs' },
    // Packages written in CommonJS ask for builtins through `require`.
    banner: { js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);" },
    logLevel: 'silent',
  });
  return { file: join(folder, 'cli.mjs'), remove: () => rmSync(folder, { recursive: true, force: true }) };
};

const timeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const newestOf = (places: readonly string[]): number =>
  Math.max(
    ...places.map((place) =>
      statSync(place).isDirectory()
        ? newestOf([...readdirSync(place).map((name) => join(place, name)), place].filter((each) => each !== place))
        : timeOf(place),
    ),
    0,
  );
