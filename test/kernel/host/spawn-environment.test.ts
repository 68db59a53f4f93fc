import { expect, test } from 'vitest';
import { scrubEnvironment, withoutCredentials } from '../../../kernel/host/spawn.ts';

const credentials = [
  'CAST_API_KEY',
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'GITHUB_TOKEN',
  'STRIPE_SECRET_KEY',
  'CLIENT_SECRET',
  'PGPASSWORD',
  'DB_PASSWORD',
  'MYSQL_PWD',
  'SSHPASS',
  'npm_config__authToken',
  'MyApiKey',
];
const plain = [
  'PATH',
  'HOME',
  'LANG',
  'GITHUB_ACTOR',
  'SSH_AUTH_SOCK',
  'TOKENIZERS_PARALLELISM',
  'MAX_TOKENS',
  'GIT_AUTHOR_NAME',
  'DATABASE_URL',
  'KEYBOARD',
  'CAST_HOME',
];
const parents = ['CAST_BASH', 'CAST_MODEL', 'GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'PWD', 'OLDPWD', 'NODE_CHANNEL_FD'];
const make = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'v']));

test('plugins see no credentials', () => {
  expect(Object.keys(withoutCredentials({ ...make([...credentials, ...plain, ...parents]), NONE: undefined }))).toEqual([...plain, ...parents]);
});

test('children get neither credentials nor what is true of the parent only', () => {
  expect(Object.keys(scrubEnvironment({ ...make([...credentials, ...plain, ...parents]), NONE: undefined }))).toEqual(plain);
});
