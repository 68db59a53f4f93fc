/** What the sources may not do, each ban with the files that may and why. Found in syntax trees, so comments and texts do not count. */
import ts from 'typescript';
import { lineOf, moduleSpecifierOf, nodesOf } from './sources.ts';

export interface Ban {
  readonly why: string;
  /** Files, or folders that end in a slash, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
  readonly matches: (node: ts.Node) => boolean;
}

const imports =
  (...modules: readonly string[]) =>
  (node: ts.Node): boolean => {
    const specifier = moduleSpecifierOf(node);
    return specifier !== undefined && modules.includes(specifier.replace(/^node:/, ''));
  };

/** `process.cwd`, also as `process['cwd']`. */
const member =
  (object: string, ...names: readonly string[]) =>
  (node: ts.Node): boolean => {
    const name = ts.isPropertyAccessExpression(node)
      ? node.name.text
      : ts.isElementAccessExpression(node) && ts.isStringLiteral(node.argumentExpression)
        ? node.argumentExpression.text
        : undefined;
    if (name === undefined || !names.includes(name)) return false;
    const owner = (node as ts.PropertyAccessExpression | ts.ElementAccessExpression).expression;
    return ts.isIdentifier(owner) && owner.text === object;
  };

/** Names that a parameter, a variable or an import of some enclosing scope gives a meaning of its own. */
const isBound = (name: string, from: ts.Node): boolean => {
  const binds = (node: ts.Node): boolean => {
    if (ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)) {
      return ts.isIdentifier(node.name) ? node.name.text === name : node.name.elements.some((element) => !ts.isOmittedExpression(element) && binds(element));
    }
    if (ts.isFunctionDeclaration(node)) return node.name?.text === name;
    if (ts.isVariableStatement(node)) return node.declarationList.declarations.some(binds);
    return ts.isImportSpecifier(node) && node.name.text === name;
  };
  for (let scope: ts.Node | undefined = from.parent; scope; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some(binds)) return true;
    if ((ts.isBlock(scope) || ts.isSourceFile(scope)) && scope.statements.some(binds)) return true;
  }
  return false;
};

/** Whether an identifier names a member, a parameter or a declaration, instead of standing for its value. */
const isName = (node: ts.Identifier): boolean => {
  const { name, propertyName } = node.parent as { name?: ts.Node; propertyName?: ts.Node };
  return !ts.isShorthandPropertyAssignment(node.parent) && (name === node || propertyName === node);
};

/** A global as a value: not a property, not a type, not a name of the file's own. */
const global =
  (name: string) =>
  (node: ts.Node): boolean => {
    if (!ts.isIdentifier(node) || node.text !== name) return false;
    if (isName(node)) return ts.isPropertyAccessExpression(node.parent) && node.parent.expression.getText() === 'globalThis';
    return !ts.isTypeQueryNode(node.parent) && !isBound(name, node);
  };

const any =
  (...tests: readonly ((node: ts.Node) => boolean)[]) =>
  (node: ts.Node): boolean =>
    tests.some((test) => test(node));

const isTopLevelAwait = (node: ts.Node): boolean => {
  if (!ts.isAwaitExpression(node) && !(ts.isForOfStatement(node) && node.awaitModifier)) return false;
  for (let scope: ts.Node | undefined = node.parent; scope; scope = scope.parent) if (ts.isFunctionLike(scope)) return false;
  return true;
};

const isBeforeOfTap = (node: ts.Node): boolean =>
  ts.isPropertyAssignment(node) &&
  ts.isIdentifier(node.name) &&
  node.name.text === 'before' &&
  ts.isObjectLiteralExpression(node.parent) &&
  ts.isCallExpression(node.parent.parent) &&
  ts.isPropertyAccessExpression(node.parent.parent.expression) &&
  node.parent.parent.expression.name.text.startsWith('tap');

const isNowDate = (node: ts.Node): boolean =>
  ts.isNewExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 'Date' && (node.arguments?.length ?? 0) === 0;

const isComputedImport = (node: ts.Node): boolean =>
  ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword && !(node.arguments[0] && ts.isStringLiteral(node.arguments[0]));

export const BANS: Readonly<Record<string, Ban>> = {
  'working directory': {
    why: 'Sessions of several projects share a process: the directory is the session’s.',
    allowed: { 'cli/main.ts': 'Where the command was started, read once and handed on.' },
    matches: any(member('process', 'cwd', 'chdir'), (node) => ts.isImportSpecifier(node) && ['cwd', 'chdir'].includes(node.name.text)),
  },
  'child process': {
    why: 'Children are started in one place, through the spawn hook, in a group that can be ended.',
    allowed: { 'kernel/host/spawn.ts': 'That place.' },
    matches: imports('child_process'),
  },
  fetch: {
    why: 'The built-in fetch knows no proxy and holds up the end of the process; powers.net.fetch does neither.',
    allowed: {},
    matches: any(global('fetch'), imports('undici')),
  },
  clock: {
    why: 'Tests and replay set the time; ask scope.clock.',
    allowed: { 'kernel/host/clock.ts': 'The clock itself.' },
    matches: any(member('Date', 'now'), isNowDate),
  },
  random: {
    why: 'Replay needs the same ids again; ask scope.ids.',
    allowed: {},
    matches: member('Math', 'random'),
  },
  console: {
    why: 'Standard output belongs to the format that was asked for.',
    allowed: {},
    matches: global('console'),
  },
  'process exit': {
    why: 'Ends other sessions half-written.',
    allowed: {
      'kernel/host/exit-guard.ts': 'Keeps plugins from it.',
      'cli/stdio.ts': 'The one way out for the command line.',
    },
    matches: member('process', 'exit', 'abort', 'reallyExit'),
  },
  'tap order by name': {
    why: 'Order comes from stages and ranks, so that it does not depend on who is there.',
    allowed: {},
    matches: isBeforeOfTap,
  },
  'top-level await': {
    why: 'Chunks must be able to become CommonJS.',
    allowed: {},
    matches: isTopLevelAwait,
  },
  'computed import': {
    why: 'The bundler makes a chunk of each literal import() and can do nothing with any other.',
    allowed: {},
    matches: isComputedImport,
  },
  'any type': {
    why: 'Unknown things are `unknown` until they are checked.',
    allowed: {},
    matches: (node) => node.kind === ts.SyntaxKind.AnyKeyword,
  },
};

/** Directives that switch a check off. The second one must say why after two hyphens. */
const SILENCED = /@ts-(?:ignore|nocheck)\b/;
const UNEXPLAINED = /@ts-expect-error\s*$|(?:oxlint|eslint)-disable(?:-next-line|-line)?(?:(?! -- \S).)*$|biome-ignore [^:]*:?\s*$/;

export interface Finding {
  readonly ban: string;
  readonly line: number;
}

/** Every breach in a file, allowed or not, by line. */
export const breachesIn = (source: ts.SourceFile): readonly Finding[] => {
  const found: Finding[] = [];
  for (const node of nodesOf(source)) {
    for (const [ban, { matches }] of Object.entries(BANS)) if (matches(node)) found.push({ ban, line: lineOf(source, node) });
  }
  for (const [index, line] of source.text.split('\n').entries()) {
    const comment = /\/[/*].*/.exec(line)?.[0] ?? '';
    if (SILENCED.test(comment) || UNEXPLAINED.test(comment)) found.push({ ban: 'silenced check', line: index + 1 });
  }
  return found.sort((a, b) => a.line - b.line);
};

/** The entry of `allowed` that covers a file. */
export const excuseOf = (ban: string, file: string): string | undefined =>
  Object.keys(BANS[ban]?.allowed ?? {}).find((path) => (path.endsWith('/') ? file.startsWith(path) : file === path));
