/** What of an environment may reach plugins, and what of that may reach child processes. */

type Environment = Readonly<Record<string, string | undefined>>;

/** By the last words of a name: `OPENAI_API_KEY`, `AWS_ACCESS_KEY_ID`, `PGPASSWORD`, `npm_config__authToken`. */
const CREDENTIAL_NAME =
  /(?:(?:^|_)(?:KEY|KEY_ID|TOKEN|SECRETS?|PASSWD|PASSPHRASE|CREDENTIALS?)|APIKEY|AUTHTOKEN|PASSWORD|_AUTH)$|(?:^|_)SECRET_|^(?:SSHPASS|MYSQL_PWD)$/i;
/** A path, not a secret: many test suites and build tools need it. */
const NO_CREDENTIAL: ReadonlySet<string> = new Set(['GOOGLE_APPLICATION_CREDENTIALS']);

/**
 * What git itself takes out before it works in another repository: where the one of the parent is, and what a `git -c` told its own children.
 * A child must find its own, or `git` in another folder changes this one. `GIT_CONFIG_COUNT` is not among them: with its keys and values it is
 * how people configure git by the environment, mostly where there is no home, and nothing sets it by itself.
 */
const GIT_LOCAL: ReadonlySet<string> = new Set([
  'GIT_CONFIG',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_GRAFT_FILE',
  'GIT_SHALLOW_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_REPLACE_REF_BASE',
]);
/** True of the parent only: its working directory, and the channel to whoever forked it. */
const PARENT_ONLY: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE', 'NODE_UNIQUE_ID']);
/** A `cast` that a command starts must find the same home. */
const KEPT_OF_CAST: ReadonlySet<string> = new Set(['CAST_HOME']);

const filter = (env: Environment, keep: (name: string) => boolean): Record<string, string> => {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && keep(name)) kept[name] = value;
  }
  return kept;
};

const isCredential = (name: string): boolean => CREDENTIAL_NAME.test(name) && !NO_CREDENTIAL.has(name);

/** For plugins: credentials are left out, switches such as `CAST_BASH` stay. */
export const withoutCredentials = (env: Environment): Record<string, string> => filter(env, (name) => !isCredential(name));

/** For child processes: no credentials, no switches of cast, nothing that is true of the parent only. */
export const scrubEnvironment = (env: Environment): Record<string, string> =>
  filter(env, (name) => !isCredential(name) && !(name.startsWith('CAST_') && !KEPT_OF_CAST.has(name)) && !GIT_LOCAL.has(name) && !PARENT_ONLY.has(name));
