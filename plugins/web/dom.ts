/** The parts of a document tree that are used here. */
import { parseHTML } from 'linkedom';

export interface TreeNode {
  readonly nodeName: string;
  readonly textContent: string | null;
}
export interface TreeElement extends TreeNode {
  readonly localName: string;
  readonly className: string;
  readonly parentNode: TreeElement | null;
  readonly firstElementChild: TreeElement | null;
  readonly previousElementSibling: TreeElement | null;
  readonly outerHTML: string;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): TreeElement | null;
  querySelectorAll(selector: string): Iterable<TreeElement>;
  getElementsByTagName(name: string): ArrayLike<TreeElement>;
  remove(): void;
}
export interface Tree extends TreeElement {
  readonly body: TreeElement;
}

/** Wrapped, since tags that HTML lets one leave out are not added by the parser. */
export const treeOf = (html: string): Tree => {
  const { document } = parseHTML(`<html><head></head><body>${html}</body></html>`) as unknown as { readonly document: Tree };
  return document;
};
