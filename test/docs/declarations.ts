/** Declarations of the sources as the reference pages show them: members, their types, their comments. */
import ts from 'typescript';
import { parse } from '../architecture/sources.ts';

export interface Member {
  readonly name: string;
  readonly isOptional: boolean;
  /** As it stands in the source, on one line. */
  readonly type: string;
  /** Text of the comment before it, on one line; empty when there is none. */
  readonly comment: string;
  readonly node: ts.TypeElement | ts.ObjectLiteralElementLike;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The last comment of the form `/** … *\/` before a node. */
export const commentOf = (node: ts.Node): string => {
  const text = node.getSourceFile().text;
  const comments = (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []).map(({ pos, end }) => text.slice(pos, end));
  const last = comments.filter((comment) => comment.startsWith('/**')).at(-1);
  return oneLine((last ?? '').replace(/^\/\*\*|\*\/$/g, '').replace(/^\s*\*/gm, ''));
};

const statementsOf = (file: string): readonly ts.Statement[] => [...parse(file).statements];

/** Members of an exported interface. */
export const membersOf = (file: string, name: string): readonly Member[] => {
  const found = statementsOf(file).find((statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === name);
  if (!found || !ts.isInterfaceDeclaration(found)) throw new Error(`${file} has no interface ${name}`);
  return found.members.filter((member) => !ts.isIndexSignatureDeclaration(member)).map(memberOf);
};

const memberOf = (node: ts.TypeElement): Member => {
  if (!node.name) throw new Error(`a member without a name: ${node.getText()}`);
  const type = ts.isPropertySignature(node) ? (node.type?.getText() ?? 'unknown') : node.getText();
  const name = ts.isStringLiteral(node.name) ? node.name.text : node.name.getText();
  return { name, isOptional: node.questionToken !== undefined, type: withoutComments(type), comment: commentOf(node), node };
};

/** Comments inside a type belong to its parts; `readonly` goes without saying. */
export const withoutComments = (type: string): string =>
  oneLine(type.replace(/\/\*[\s\S]*?\*\//g, ''))
    .replace(/\breadonly (?=\w+\??:)/g, '')
    .replace(/\s+;/g, ';')
    .replace(/;\s*\}$/, ' }');

/** Members of a constant that is an object, also behind `as const`, `satisfies` and a call. */
export const entriesOf = (file: string, name: string): readonly Member[] => {
  const declarations = statementsOf(file).flatMap((statement) => (ts.isVariableStatement(statement) ? [...statement.declarationList.declarations] : []));
  const found = declarations.find((declaration) => declaration.name.getText() === name);
  const value = found?.initializer && bare(found.initializer);
  if (!value || !ts.isObjectLiteralExpression(value)) throw new Error(`${file} has no object ${name}`);
  return value.properties.map((node) => ({
    name: node.name?.getText() ?? '',
    isOptional: false,
    type: ts.isPropertyAssignment(node) ? node.initializer.getText() : '',
    comment: commentOf(node),
    node,
  }));
};

const bare = (node: ts.Expression): ts.Expression => (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? bare(node.expression) : node);

export interface Declaration {
  readonly name: string;
  readonly comment: string;
  /** The declaration itself, without the comment before it and without `export`. */
  readonly text: string;
}

/** Every exported interface and type of a file, in its order. */
export const typesOf = (file: string): readonly Declaration[] =>
  statementsOf(file).flatMap((statement) => {
    if (!ts.isInterfaceDeclaration(statement) && !ts.isTypeAliasDeclaration(statement)) return [];
    return [{ name: statement.name.text, comment: commentOf(statement), text: statement.getText().replace(/^export /, '') }];
  });
