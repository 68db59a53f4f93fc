/** Loads TypeScript and JavaScript of users: configuration and plugins, all through one loader that is itself loaded late. */
import { createRequire } from 'node:module';
import { mkdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { types } from 'node:util';
import type { Jiti } from 'jiti';
import { packageRoot } from '../package.ts';

const PUBLIC_MODULES = ['cast/kernel', 'cast/testkit', 'cast'] as const;
const SOURCES: Readonly<Record<(typeof PUBLIC_MODULES)[number], string>> = {
  'cast/kernel': '../../kernel/index.ts',
  'cast/testkit': '../../kernel/testkit/index.ts',
  cast: '../index.ts',
};

export interface ModuleLoader {
  /** The default export, or what a CommonJS module exports; undefined when an ES module has no default export. */
  load(file: string): Promise<unknown>;
}

/** A module that waits for ever at its top level must not hold the start for ever. */
const LOAD_MS = 30_000;

/** Compiled files are kept below `$CAST_HOME/cache/jiti`. */
export const moduleLoader = (castHome: string): ModuleLoader => {
  let jiti: Promise<Jiti> | undefined;
  return {
    load: async (file) => {
      jiti ??= createLoader(castHome);
      return defaultOf(await withinTime(evaluate(await jiti, file)));
    },
  };
};

const createLoader = async (castHome: string): Promise<Jiti> => {
  const { createJiti } = await import('jiti');
  // Otherwise the cache folder would bring the home into being, readable by everybody. Where it cannot be made there is no cache.
  await mkdir(castHome, { recursive: true, mode: 0o700 }).catch(() => undefined);
  return createJiti(import.meta.url, {
    fsCache: join(castHome, 'cache', 'jiti'),
    // Read again after a change, without a restart.
    moduleCache: false,
    alias: publicModules(),
  });
};

const evaluate = async (jiti: Jiti, file: string): Promise<unknown> => {
  const extension = extname(file);
  if (extension !== '.js' && extension !== '.mjs') return jiti.import(file);
  // An ES module would be imported natively: without aliases, once for ever, and a second time when it throws.
  return jiti.evalModule(await readFile(file, 'utf8'), { id: file, filename: file, ext: extension, async: true, forceTranspile: true });
};

const withinTime = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it was not ready after ${LOAD_MS / 1000} s`)), LOAD_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Where the public modules are: the built files of the running package, or the sources when it runs from them. */
const publicModules = (): Record<string, string> => {
  const locate = import.meta.url.endsWith('.ts')
    ? (name: (typeof PUBLIC_MODULES)[number]): string => fileURLToPath(new URL(SOURCES[name], import.meta.url))
    : createRequire(join(packageRoot(), 'package.json')).resolve;
  return Object.fromEntries(PUBLIC_MODULES.map((name) => [name, locate(name)]));
};

const defaultOf = (exports: unknown): unknown => {
  if (!isModule(exports)) return exports;
  const value = exports['default'];
  // One level down: CommonJS made by a compiler, or a module that stands for the default export it does not have.
  return isModule(value) && value['__esModule'] === true ? value['default'] : value;
};

const isModule = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && ((value as { __esModule?: unknown }).__esModule === true || types.isModuleNamespaceObject(value));
