/** The sources of the project as these tests read them: which files there are, and their syntax trees. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const DIST = join(ROOT, 'dist');
export const FIXTURES = join(ROOT, 'test/architecture/fixtures');

/** Folders of data: projects that demonstrate or test something, not parts of cast. */
const NOT_SOURCE = ['cli/demo', 'test/architecture/fixtures', 'node_modules'];

/** Paths from the root, with forward slashes, sorted; of a folder that does not exist, none. */
export const filesBelow = (folder: string, suffixes: readonly string[] = ['.ts', '.tsx'], root = ROOT): readonly string[] => {
  if (!existsSync(join(root, folder))) return [];
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !NOT_SOURCE.some((part) => `/${path}`.includes(`/${part}/`)))
    .sort();
};

export const readSource = (path: string, root = ROOT): string => readFileSync(join(root, path), 'utf8');

/** Folders of the built-in plugins. */
export const pluginFolders = (): readonly string[] =>
  readdirSync(join(ROOT, 'plugins'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();

export const parse = (path: string, text = readSource(path)): ts.SourceFile =>
  ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);

/** Every node of a tree, parents first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node> {
  yield node;
  for (const child of node.getChildren()) if (child.kind !== ts.SyntaxKind.JSDoc) yield* nodesOf(child);
}

export const lineOf = (source: ts.SourceFile, node: ts.Node): number => source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;

/** What a module imports: `import`, `export … from`, `import()` and `require()` with a literal. */
export const importsOf = (source: ts.SourceFile): readonly string[] =>
  [...nodesOf(source)].flatMap((node) => {
    const specifier = moduleSpecifierOf(node);
    return specifier === undefined ? [] : [specifier];
  });

export const moduleSpecifierOf = (node: ts.Node): string | undefined => {
  const specifier = specifierNode(node);
  return specifier && ts.isStringLiteralLike(specifier) ? specifier.text : undefined;
};
const specifierNode = (node: ts.Node): ts.Node | undefined => {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier;
  if (ts.isImportTypeNode(node)) return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
  if (!ts.isCallExpression(node)) return undefined;
  const loads = node.expression.kind === ts.SyntaxKind.ImportKeyword || (ts.isIdentifier(node.expression) && node.expression.text === 'require');
  return loads ? node.arguments[0] : undefined;
};
