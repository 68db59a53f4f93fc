/**
 * Bundles cast into `dist/`: four entries, and a chunk for each literal `import()`, so that a feature costs nothing until it is used.
 * It is CommonJS, which loads faster and can be kept compiled (docs/decisions/007).
 */
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import resolve from '@rollup/plugin-node-resolve';
import replace from '@rollup/plugin-replace';
import dts from 'rollup-plugin-dts';
import esbuild from 'rollup-plugin-esbuild';

const ROOT = import.meta.dirname;
const DIST = join(ROOT, 'dist');
const FACES = { index: 'cli/index.ts', kernel: 'kernel/index.ts', testkit: 'kernel/testkit/index.ts' };
const PROGRAM = { cli: 'cli/cli.ts', ...FACES };

/** Native, found by path at run time, or only wanted where a user has them. */
const ADDON = 'better-sqlite3/build/Release/better_sqlite3.node';
const EXTERNAL = [ADDON, 'jiti', '@vscode/ripgrep', '@silvia-odwyer/photon-node', 'typescript', 'react-devtools-core'];
/** Of ES modules alone, which `require` does not load on Node 20. */
const ES_ONLY = ['@vscode/ripgrep'];
const isExternal = (id) => isBuiltin(id) || EXTERNAL.some((name) => id === name || id.startsWith(`${name}/`));

/** Warnings about the code of packages. Any other fails the build. */
const TOLERATED_IN_PACKAGES = new Set(['INVALID_ANNOTATION', 'CIRCULAR_DEPENDENCY', 'THIS_IS_UNDEFINED', 'MODULE_LEVEL_DIRECTIVE']);
const inPackages = ({ id, ids, loc, exporter }) => [id, loc?.file, exporter, ...(ids ?? [])].some((file) => file?.includes('node_modules'));
const onLog = (level, log, pass) => {
  if (level !== 'warn') return pass(level, log);
  if (!(TOLERATED_IN_PACKAGES.has(log.code) && inPackages(log))) pass('error', log);
};

/** `plugins/bash/index.ts` becomes `plugin-bash`, `plugins/bash/run.ts` `plugin-bash-run`, `kernel/host/fetch.ts` `kernel-fetch`, a package `lib-NAME`. */
const chunkName = ({ facadeModuleId, moduleIds, name }) => {
  const stem = (id) => basename(id, extname(id));
  const id = facadeModuleId ?? moduleIds.find((module) => stem(module) === name) ?? moduleIds.at(-1) ?? '';
  const [folder, plugin] = relative(ROOT, id).split(sep);
  const owner = { plugins: `plugin-${plugin}`, kernel: 'kernel', cli: 'cli' }[folder];
  if (!owner) return `chunks/lib-${basename(packageOf(id) ?? 'shared')}-[hash].js`;
  return `chunks/${owner}${stem(id) === 'index' ? '' : `-${stem(id)}`}-[hash].js`;
};
/** Folder of the package that a module is from; undefined for our own. */
const packageOf = (id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replace(/^\0/, ''))?.[0];

/** Rollup never removes: chunks of earlier builds would pile up and be packed. Just before writing, so that cast can be used while it is built. */
const emptyFolder = { name: 'empty-dist', generateBundle: () => rmSync(DIST, { recursive: true, force: true }) };

const finish = {
  name: 'finish-dist',
  writeBundle() {
    chmodSync(join(DIST, 'cli.js'), 0o755);
    // The package as a whole is of ES modules.
    writeFileSync(join(DIST, 'package.json'), '{ "type": "commonjs" }\n');
    const demo = join(ROOT, 'cli', 'demo');
    if (existsSync(demo)) cpSync(demo, join(DIST, 'demo'), { recursive: true });
  },
};

/** The licences of what is bundled ask to go with it. */
const licences = {
  name: 'licences',
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => (chunk.type === 'chunk' ? Object.keys(chunk.modules) : []));
    const folders = modules.flatMap((id) => packageOf(id) ?? []);
    const texts = [...new Set(folders)].sort().map(licenceIn);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) });
  },
};
const licenceIn = (folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8') : 'The package brings no licence file.\n'}`;
};

/**
 * The types of the face are declared once, in `kernel.d.ts`, and imported by the other two: an interface that a plugin widens under
 * one of the names must be widened under all.
 */
const FACE = 'the types of kernel.d.ts';
const KERNEL = join(ROOT, 'kernel');
const faceFiles = new Set([
  join(KERNEL, 'index.ts'),
  ...[...readFileSync(join(KERNEL, 'index.ts'), 'utf8').matchAll(/from '(.+)'/g)].map(([, path]) => join(KERNEL, path)),
]);
const shareFace = {
  name: 'share-face',
  resolveId(source, importer) {
    if (!importer || !source.startsWith('.') || faceFiles.has(importer)) return null;
    return faceFiles.has(join(dirname(importer), source)) ? { id: FACE, external: true } : null;
  },
};

/** What CommonJS has in place of parts of ES modules. */
const forms = {
  name: 'commonjs-forms',
  resolveImportMeta: (property) => (property === 'url' ? "require('node:url').pathToFileURL(__filename).href" : null),
  // V8 forgets how to import when it takes a function from the code cache, so that it has to be done from outside of the chunks.
  renderDynamicImport: ({ targetModuleId }) => (ES_ONLY.includes(targetModuleId) ? { left: "require('../import.js')(", right: ')' } : null),
  generateBundle() {
    this.emitFile({ type: 'asset', fileName: 'import.js', source: "'use strict';\nmodule.exports = (specifier) => import(specifier);\n" });
  },
};

/** The package searches for its addon in a dozen places, with the help of two packages. npm puts it into one. */
const addon = {
  name: 'addon',
  resolveId: (id) => (id === 'bindings' ? '\0bindings' : null),
  load: (id) => (id === '\0bindings' ? `import { createRequire } from 'node:module'; export default () => createRequire(import.meta.url)('${ADDON}');` : null),
};

const inPackage = (include, values) => replace({ preventAssignment: true, delimiters: ['', ''], include: `**/node_modules/${include}`, values });
/** Calls of `require` in functions of packages: one that no ES module could make, and one that the bundler would load at the start. */
const REPAIRS = [
  inPackage('clipanion/lib/platform/node.mjs', { 'require(`async_hooks`)': "process.getBuiltinModule('node:async_hooks')" }),
  // TypeScript is loaded by cast's own loader.
  inPackage('cosmiconfig/dist/loaders.js', { "require('typescript')": 'undefined' }),
  // It is given trees, and so needs no parser.
  inPackage('turndown/lib/turndown.es.js', { "require('@mixmark-io/domino')": 'undefined' }),
  // Only for drawing.
  inPackage('linkedom/commonjs/canvas.cjs', { "require('canvas')": "require('./canvas-shim.cjs')" }),
];

export default [
  {
    input: PROGRAM,
    external: isExternal,
    onLog,
    plugins: [
      emptyFolder,
      replace({ preventAssignment: true, values: { 'process.env.NODE_ENV': '"production"' } }),
      ...REPAIRS,
      addon,
      forms,
      resolve({ exportConditions: ['node'], preferBuiltins: true, extensions: ['.mjs', '.js', '.ts', '.tsx', '.json'] }),
      commonjs(),
      json(),
      esbuild({ target: 'node20', jsx: 'automatic', minify: true, tsconfig: join(ROOT, 'tsconfig.json') }),
      licences,
      finish,
    ],
    output: {
      dir: DIST,
      format: 'cjs',
      exports: 'named',
      esModule: true,
      interop: (id) => (isBuiltin(id ?? '') ? 'default' : 'auto'),
      dynamicImportInCjs: false,
      // It spares a browser round trips; here each chunk would only ask for what its chunks ask for.
      hoistTransitiveImports: false,
      entryFileNames: '[name].js',
      chunkFileNames: chunkName,
      // The faces are to hold nothing but names: a loader of users' code looks through them for the syntax of ES modules.
      manualChunks: (id) => (packageOf(id)?.endsWith('/zod') ? 'zod' : undefined),
      banner: ({ name, isEntry }) => (isEntry && name === 'cli' ? '#!/usr/bin/env node' : ''),
      sourcemap: true,
      // Positions are enough to name a source line; the text would triple the package.
      sourcemapExcludeSources: true,
    },
  },
  {
    input: FACES,
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    onLog,
    plugins: [shareFace, dts({ tsconfig: join(ROOT, 'tsconfig.json') })],
    output: { dir: DIST, format: 'esm', entryFileNames: '[name].d.ts', chunkFileNames: 'types/[name]-[hash].d.ts', paths: { [FACE]: './kernel.js' } },
  },
];
