import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
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

const git = spawnSync('git', ['rev-parse', '--local-env-vars'], { encoding: 'utf8' });

test.skipIf(git.status !== 0)('of what git keeps to one repository a child gets only the configuration that people give by the environment', () => {
  const local = git.stdout.trim().split('\n');
  expect(local).toContain('GIT_DIR');
  expect(Object.keys(scrubEnvironment(make(local)))).toEqual(['GIT_CONFIG_COUNT']);
});

test.skipIf(git.status !== 0)('a git that a child starts obeys it, and is not moved to the repository of the parent', () => {
  const given = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'of the environment' };
  const parent = { GIT_CONFIG_PARAMETERS: "'user.email=left@over'", GIT_DIR: '/nowhere', GIT_CONFIG: '/nowhere' };
  const env = scrubEnvironment({ PATH: process.env['PATH'], HOME: '/nowhere', ...given, ...parent });
  const run = (...args: readonly string[]) => spawnSync('git', args, { encoding: 'utf8', env, cwd: tmpdir() }).stdout.trim();
  expect([run('config', 'user.name'), run('config', 'user.email')]).toEqual(['of the environment', '']);
});
