/** What a plugin says in its manifest beside what its sources do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { type Capability, isPlugin, type Manifest, type Plugin } from '../../kernel/index.ts';
import { HOOKS } from '../../kernel/hooks/catalogue.ts';
import { filesBelow, importsOf, nodesOf, parse, readSource } from './sources.ts';

/** Built-in modules that do what a power is for; `powers.fs` itself only makes paths canonical. */
const MODULES: Readonly<Record<string, Capability>> = {
  fs: 'fs',
  'fs/promises': 'fs',
  http: 'net',
  https: 'net',
  http2: 'net',
  net: 'net',
  tls: 'net',
  dgram: 'net',
  dns: 'net',
  child_process: 'process',
};

export interface Use {
  readonly capabilities: readonly string[];
  readonly taps: readonly string[];
  readonly provides: readonly string[];
  readonly uses: readonly string[];
}

/** The manifest, and the plugin that the body exports. */
export const loadPlugin = async (folder: string): Promise<{ manifest: Manifest; plugin: Plugin; exports: readonly string[] }> => {
  const manifests = (await import(pathToFileURL(join(folder, 'manifest.ts')).href)) as Record<string, unknown>;
  const { default: plugin } = (await import(pathToFileURL(join(folder, 'index.ts')).href)) as { default: unknown };
  if (!isPlugin(plugin)) throw new Error(`${folder}/index.ts has no plugin as its default export`);
  return { manifest: Object.values(manifests)[0] as Manifest, plugin, exports: Object.keys(manifests) };
};

/** What only a body has. */
const OF_THE_BODY: ReadonlySet<string> = new Set(['options', 'setup', 'apply']);

/** Differences between manifest and body, in words; none when they agree. */
export const disagreements = (manifest: Manifest, { spec }: Plugin): readonly string[] => {
  const claims: Readonly<Record<string, unknown>> = { ...manifest };
  const words: Readonly<Record<string, unknown>> = { ...spec };
  return [...new Set([...Object.keys(claims), ...Object.keys(words)])]
    .filter((key) => !OF_THE_BODY.has(key))
    .filter((key) => JSON.stringify(claims[key]) !== JSON.stringify(words[key]))
    .map((key) => `${key}: the manifest says ${JSON.stringify(claims[key])}, the body ${JSON.stringify(words[key])}`);
};

const isNamed = (node: ts.Expression, name: string): boolean =>
  (ts.isIdentifier(node) && node.text === name) || (ts.isPropertyAccessExpression(node) && node.name.text === name);

const firstText = (call: ts.CallExpression): string | undefined => {
  const [argument] = call.arguments;
  return argument && ts.isStringLiteral(argument) ? argument.text : undefined;
};

/** `hooks.gate.tap(…)` and `services.find('shell')`. */
const calledOn = (node: ts.Node): { readonly owner: ts.Expression; readonly method: string; readonly call: ts.CallExpression } | undefined =>
  ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)
    ? { owner: node.expression.expression, method: node.expression.name.text, call: node }
    : undefined;

const powersIn = (node: ts.Node): readonly string[] => {
  if (ts.isPropertyAccessExpression(node) && isNamed(node.expression, 'powers')) return [node.name.text];
  if (!ts.isVariableDeclaration(node) || !ts.isObjectBindingPattern(node.name) || !node.initializer || !isNamed(node.initializer, 'powers')) return [];
  return node.name.elements.map(({ propertyName, name }) => (propertyName ?? name).getText());
};

const tapsIn = (node: ts.Node): readonly string[] => {
  const called = calledOn(node);
  return called?.method === 'tap' ? Object.keys(HOOKS).filter((hook) => isNamed(called.owner, hook)) : [];
};

const servicesIn = (node: ts.Node, ...methods: readonly string[]): readonly string[] => {
  const called = calledOn(node);
  if (!called || !methods.includes(called.method) || !isNamed(called.owner, 'services')) return [];
  return [firstText(called.call) ?? `(computed in ${called.call.getText()})`];
};

const sorted = (names: Iterable<string>): readonly string[] => [...new Set(names)].sort();

/** What the sources of a plugin do. `folder` is relative to `root`. */
export const useOf = (folder: string, root?: string): Use => {
  const sources = filesBelow(folder, undefined, root).map((file) => parse(file, readSource(file, root)));
  const nodes = sources.flatMap((source) => [...nodesOf(source)]);
  const modules = sources.flatMap(importsOf).flatMap((specifier) => MODULES[specifier.replace(/^node:/, '')] ?? []);
  return {
    capabilities: sorted([...modules, ...nodes.flatMap(powersIn)]),
    taps: sorted(nodes.flatMap(tapsIn)),
    provides: sorted(nodes.flatMap((node) => servicesIn(node, 'provide'))),
    uses: sorted(nodes.flatMap((node) => servicesIn(node, 'get', 'find'))),
  };
};

export const claimOf = (manifest: Manifest): Use => ({
  capabilities: sorted(manifest.capabilities),
  taps: sorted(manifest.taps ?? ['(whatever it taps)']),
  provides: sorted(manifest.provides ?? []),
  uses: sorted((manifest.uses ?? []).map((name) => name.replace(/\?$/, ''))),
});

/** What belongs to a plugin and is not there. */
export const missingPieces = (name: string, root: string, builtins: string): readonly string[] => {
  const pieces = [`plugins/${name}/manifest.ts`, `plugins/${name}/index.ts`, `test/plugins/${name}`, `docs/plugins/${name}.md`];
  const named = [`'../plugins/${name}/manifest.ts'`, `import('../plugins/${name}/index.ts')`];
  return [
    ...pieces.filter((piece) => !existsSync(join(root, piece))),
    ...named.filter((text) => !builtins.includes(text)).map((text) => `${text} in cli/builtins.ts`),
  ];
};
