/** The login of the Codex command line, for the one address that takes it. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ProviderConfig, ProviderError } from '../../kernel/index.ts';
import { fieldsOf, parseJson, textOf } from './values.ts';

export interface CodexAccess {
  /** The configuration, with the header that names the account. */
  readonly config: ProviderConfig;
  readonly secret: () => Promise<string>;
}

/** Where the command line keeps its login: `CODEX_HOME`, else `.codex` in the home folder. */
export const codexFolder = (environment: Readonly<Record<string, string | undefined>>): string =>
  environment['CODEX_HOME'] || join(environment['HOME'] || homedir(), '.codex');

/** Read anew for each request: the command line renews the token. Throws ProviderError `auth` when there is none. */
export const codexAccess = async (config: ProviderConfig, folder: string): Promise<CodexAccess> => {
  const file = join(folder, 'auth.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw notSignedIn(file, 'cannot be read', error);
  });
  const tokens = fieldsOf(parseJson(text), 'tokens');
  const token = textOf(tokens['access_token']);
  const account = textOf(tokens['account_id']);
  if (token === undefined || account === undefined) throw notSignedIn(file, `holds no tokens.${token === undefined ? 'access_token' : 'account_id'}`);
  return { config: { ...config, key: file, headers: { ...config.headers, 'chatgpt-account-id': account } }, secret: async () => token };
};

/** The token comes from no secret of the session, so nobody else keeps it out of what is shown and stored. `hidden`: those that are. */
export const hideToken = (token: string, hidden: Set<string>, redact: (pattern: RegExp) => void): void => {
  if (hidden.has(token)) return;
  hidden.add(token);
  redact(new RegExp(token.replace(/[^\w]/g, '\\$&')));
};

const notSignedIn = (file: string, problem: string, cause?: unknown): ProviderError =>
  new ProviderError('auth', `the Codex login in ${file} ${problem}`, {
    fix: 'Sign in with `codex login`, or set CODEX_HOME to the folder that holds auth.json.',
    ...(cause === undefined ? {} : { cause }),
  });
