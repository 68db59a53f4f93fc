/** Keeps what V8 compiled of the built files, so that the next start need not compile it again. Nothing here may break a run. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { prepareFolder, readPack, writePack } from './code-pack.ts';

type Chunk = (exports: unknown, require: (id: string) => unknown, module: NodeJS.Module, file: string, folder: string) => void;
type Compile = (file: string) => Script;

/** The folder that the built files are in, this one among them. */
const CHUNKS = dirname(fileURLToPath(import.meta.url));
const HEAD = '(function (exports, require, module, __filename, __dirname) { ';
const TAIL = '\n})';
/** A start is over by then. Much later V8 has dropped the functions that only a start needs, and they would be missing. */
const SETTLED_MS = 10_000;

/** To be called before the other built files are loaded. `CAST_CODE_CACHE=off` leaves it all to Node. */
export const useCodeCache = (environment: NodeJS.ProcessEnv): void => {
  if (environment['CAST_CODE_CACHE'] !== 'off') orNothing(() => start(environment));
};

const start = (environment: NodeJS.ProcessEnv): void => {
  const home = environment['CAST_HOME'] ? resolve(environment['CAST_HOME']) : join(homedir(), '.cast');
  const folder = join(home, 'cache', 'code');
  const { enableCompileCache } = Module as { readonly enableCompileCache?: (folder: string) => unknown };
  if (!enableCompileCache) hookLoading(createCompiler(home, folder));
  else if (prepareFolder(home, folder)) enableCompileCache(folder);
};

/**
 * Built files are loaded by what is compiled here; everything else as ever. They know each other by path, so that Node need not search
 * for them, and are entered where Node looks: whoever asks Node for one gets the same instance.
 */
const hookLoading = (compile: Compile): void => {
  const native = createRequire(import.meta.url);
  const loadOthers = native.extensions['.js'];
  const require = (id: string): unknown => (id.startsWith('./') ? load(join(CHUNKS, id)) : native(id));
  const run = (module: NodeJS.Module, file: string): void => {
    const chunk = compile(file).runInThisContext() as Chunk;
    chunk.call(module.exports, module.exports, require, module, file, CHUNKS);
  };
  const load = (file: string): unknown => {
    const known = native.cache[file];
    if (known) return known.exports;
    const module = new Module(file);
    native.cache[file] = module;
    try {
      run(module, file);
    } catch (error) {
      delete native.cache[file];
      throw error;
    }
    module.loaded = true;
    return module.exports;
  };
  native.extensions['.js'] = (module, file) => (dirname(file) === CHUNKS ? run(module, file) : loadOthers(module, file));
};

const createCompiler = (home: string, folder: string): Compile => {
  const installation = createHash('sha1').update(CHUNKS).digest('hex').slice(0, 8);
  const file = join(folder, `${process.version}-${process.arch}-${cachedDataVersionTag()}-${installation}.bin`);
  const known = readPack(file);
  let loaded: { readonly name: string; readonly script: Script; readonly isNew: boolean }[] = [];
  const keep = (): void => {
    const batch = loaded;
    loaded = [];
    if (!batch.some(({ isNew }) => isNew) || !prepareFolder(home, folder)) return;
    // Those that were known as well: they have run functions by now that were not compiled then.
    const fresh = batch.map(({ name, script }) => [name, script.createCachedData()] as const);
    const still = [...readPack(file)].filter(([name]) => existsSync(join(CHUNKS, name)));
    writePack(file, new Map([...still, ...fresh]));
  };
  const tryToKeep = (): void => orNothing(keep);
  setTimeout(tryToKeep, SETTLED_MS).unref();
  process.on('exit', tryToKeep);
  return (path) => {
    // It has a hash of its content in it.
    const name = basename(path);
    const cachedData = known.get(name);
    const script = new Script(HEAD + readFileSync(path, 'utf8') + TAIL, {
      filename: path,
      // Positions in stacks are those in the file.
      columnOffset: -HEAD.length,
      ...(cachedData && { cachedData }),
    });
    loaded.push({ name, script, isNew: script.cachedDataRejected !== false });
    return script;
  };
};

/** Where files cannot be written there is no cache. */
const orNothing = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return undefined;
  }
};
