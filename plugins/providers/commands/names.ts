/** Names of providers, and of the secrets that hold their keys. */
import { usage } from './desk.ts';

/** Names that mean something else where one of a provider is expected. */
const RESERVED: ReadonlySet<string> = new Set(['list', 'find', 'add', 'check', 'save', 'delete', 'env']);
const NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** Throws CLI_USAGE. */
export const checkName = (name: string): void => {
  if (!NAME.test(name)) throw usage(`${JSON.stringify(name)} is no name for a provider`, 'Use small letters, digits and hyphens.');
  if (RESERVED.has(name)) throw usage(`${name} is no name for a provider, because it means something else`, 'Choose another.');
};

/** Without dots, which would part it where settings are named by paths. */
export const freeName = (wish: string, taken: ReadonlySet<string>): string => {
  const base =
    wish
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 30) || 'mine';
  const names = [base, ...Array.from({ length: taken.size + 1 }, (_, index) => `${base}-${index + 2}`)];
  return names.find((name) => !taken.has(name) && !RESERVED.has(name)) ?? base;
};

export const keyNameOf = (name: string): string => `CAST_KEY_${name.toUpperCase().replaceAll('-', '_')}`;
