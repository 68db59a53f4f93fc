import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import ts from 'typescript';
import { isPlugin, type LayerName, type Plugin } from '../../kernel/index.ts';
import { LAYERS } from '../../kernel/contracts/config.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { filesBelow, nodesOf, parse, pluginFolders, ROOT } from '../architecture/sources.ts';
import { entriesOf, membersOf } from './declarations.ts';
import { code, figure, page, table } from './markdown.ts';

const CONTRACT = 'kernel/contracts/config.ts';

const LAYER_WORDS: Readonly<Record<LayerName, string>> = {
  default: 'what cast comes with',
  'user-settings': '`$CAST_HOME/settings.json`, written by cast',
  user: '`$CAST_HOME/cast.config.*`',
  'project-settings': '`.cast/settings.json`, written by cast, from the project’s root down to the working directory',
  'project-local': '`.cast/settings.local.json`, the same, not meant to be shared',
  project: '`cast.config.*`, `.castrc*` or the key `cast` of `package.json`, the same',
  environment: 'the variables below',
  flags: 'flags of the command line',
  session: 'what was chosen in the session',
};

const INTRODUCTION = `# Configuration

Nothing has to be configured but a model and where it is served. Everything else has a default.

${'```ts'}
// cast.config.ts
import { defineConfig } from 'cast';

export default defineConfig({
  model: 'some-model',
  provider: 'local',
  providers: { local: { baseUrl: 'http://127.0.0.1:11434/v1' } },
  plugins: { bash: { timeoutMs: 60_000 }, search: false },
});
${'```'}

A configuration may be TypeScript, JavaScript, JSON or YAML; all have the same shape. What a project brings is used only once the project is trusted. A key with a wrong type is
an error that names the file; an unknown key is a warning. \`cast config\` shows every key with the place that set it.`;

const layers = (): string => `## Layers

Each layer may set any key. Of several that do, the nearest wins, key by key; lists are replaced, only \`permissions.allow\` and \`permissions.deny\` add up. From the farthest to the
nearest:

${table(
  ['Layer', 'Where'],
  LAYERS.map((name) => [code(name), LAYER_WORDS[name]]),
)}`;

/** Interfaces behind a key, and how their keys are written. */
const BELOW: Readonly<Record<string, { readonly name: string; readonly prefix: string }>> = {
  providers: { name: 'ProviderConfig', prefix: 'providers.NAME.' },
  models: { name: 'ModelSlots', prefix: 'models.' },
  permissions: { name: 'PermissionsConfig', prefix: 'permissions.' },
  limits: { name: 'LimitsConfig', prefix: 'limits.' },
};

/** For the keys that have no comment of their own. */
const WORDS: Readonly<Record<string, string>> = {
  model: 'The model, as its provider calls it.',
  providers: 'Where models are served, by a name of your own.',
  'providers.NAME.api': 'What the provider speaks: Chat Completions or Responses. Default: `chat`.',
  'providers.NAME.headers': 'Sent with each request.',
  'providers.NAME.temperature': 'Sent as it stands here. Default: not sent.',
  'providers.NAME.topP': 'Sent as it stands here. Default: not sent.',
  'models.plan': 'While a plan is made.',
  'models.summary': 'Writes the summaries of compactions.',
  'models.judge': 'Judges commands.',
  reasoning: 'How much the model reasons, in the words of its provider.',
  permissions: 'What runs without asking, what is asked about, and what is refused.',
  'permissions.mode':
    '`default` asks about what is dangerous or outside of the project, `ask` about everything that changes something, `bypass` about nothing.',
  'permissions.deny': 'Wins over `allow`, in whatever layer either stands.',
  limits: 'Bounds of a turn and of a run.',
  'limits.maxOutputTokens': 'Tokens of one reply.',
};

interface Key {
  readonly name: string;
  readonly type: string;
  readonly about: string;
}

const keysOf = (name: string, prefix: string): readonly Key[] =>
  membersOf(CONTRACT, name).flatMap((member) => {
    const key = `${prefix}${member.name}`;
    const below = BELOW[key];
    const about = member.comment || WORDS[key];
    if (about === undefined) throw new Error(`${CONTRACT}: ${key} has no comment`);
    return [{ name: key, type: below ? 'object' : plainType(member.type), about }, ...(below ? keysOf(below.name, below.prefix) : [])];
  });

const plainType = (type: string): string =>
  type
    .replace(/^readonly string\[\]$/, 'list of texts')
    .replace(/^Readonly<Record<string, string>>$/, 'texts by name')
    .replace(/^Readonly<Record<string, unknown>>$/, 'by name')
    .replace(/^string$/, 'text')
    .replaceAll(/'(\w+)' ?\|? ?/g, '`$1` ')
    .trim();

/** Every key of the one shape, as `limits.maxSteps`. */
export const configKeys = (): readonly Key[] => keysOf('CastConfig', '');

/** Words of this file that are not needed any more, because the key has a comment or is gone. */
export const staleWords = (): readonly string[] => {
  const bare = new Set(configKeys().map(({ name, about }) => (WORDS[name] === about ? name : '')));
  return Object.keys(WORDS).filter((name) => !bare.has(name));
};

const settings = (): string => `## Keys

${table(
  ['Key', 'Type', 'Meaning'],
  configKeys().map(({ name, type, about }) => [code(name), type, about]),
)}`;

export interface Option {
  readonly plugin: string;
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** Options of every built-in plugin, from the schemas that check them. */
export const pluginOptions = async (): Promise<readonly Option[]> => {
  const plugins = await Promise.all(pluginFolders().map(async (folder) => [folder, await bodyOf(folder)] as const));
  return plugins.flatMap(([plugin, { spec }]) => {
    const source = spec.options?.['~standard'] as { jsonSchema?: { input(how: { target: string }): { properties?: Record<string, object> } } } | undefined;
    const properties = source?.jsonSchema?.input({ target: 'draft-2020-12' }).properties ?? {};
    return Object.entries(properties).map(([name, schema]) => ({ plugin, name, schema: schema as Option['schema'] }));
  });
};

const bodyOf = async (folder: string): Promise<Plugin> => {
  const { default: plugin } = (await import(pathToFileURL(join(ROOT, 'plugins', folder, 'index.ts')).href)) as { default: unknown };
  if (!isPlugin(plugin)) throw new Error(`plugins/${folder}/index.ts exports no plugin`);
  return plugin;
};

const show = (value: unknown): string => (typeof value === 'number' ? figure(value) : JSON.stringify(value));

const rangeOf = ({ enum: words, type, minimum, maximum }: Option['schema']): string => {
  if (Array.isArray(words)) return words.map((word) => code(JSON.stringify(word))).join(', ');
  const bounds = [minimum === undefined ? '' : `from ${show(minimum)}`, maximum === undefined ? '' : `to ${show(maximum)}`].filter((bound) => bound !== '');
  return [String(type ?? 'anything'), bounds.join(' ')].filter((part) => part !== '').join(' ');
};

const options = async (): Promise<string> => {
  const rows = (await pluginOptions()).map(({ plugin, name, schema }) => [
    code(`plugins.${plugin}.${name}`),
    rangeOf(schema),
    schema['default'] === undefined ? 'none' : code(show(schema['default'])),
    String(schema['description'] ?? ''),
  ]);
  return `## Options of plugins

\`plugins.NAME\` is \`false\` (off), \`true\` (on) or options (on). A name that is not built in says where to load the plugin from. \`cast plugins list\` shows what is on.

${table(['Key', 'Values', 'Default', 'Meaning'], rows)}`;
};

const VARIABLES: Readonly<Record<string, string>> = {
  CAST_DATA_DIR: 'Where the plugin `session-jsonl` keeps its transcripts, in place of `CAST_HOME`.',
  CAST_HOME: 'Where cast keeps its own files, in place of `~/.cast`.',
  CAST_BASE_URL: 'Base URL of a provider: what stands before `/chat/completions`.',
  OPENAI_BASE_URL: 'The same, when `CAST_BASE_URL` is not set.',
  CAST_API_KEY: 'Key of the provider. May be empty for a server on this machine.',
  OPENAI_API_KEY: 'The same, when `CAST_API_KEY` is not set.',
  CAST_MODEL: 'The model.',
  CAST_API: '`chat` (default) or `responses`.',
  CAST_CONTEXT_WINDOW: 'Tokens; for a model about which nothing is known.',
  CAST_MAX_OUTPUT: 'Tokens of a reply, the same.',
  CAST_LOG: '`debug` tells more on standard error.',
  CAST_BASH: 'The shell that runs commands, in place of `bash`.',
  CAST_CODE_CACHE: '`off` leaves the loading of built files to Node and keeps nothing compiled.',
  CAST_COMMAND: 'Set for the commands that the model runs, with the id of the call: what they leave behind is found by it.',
  NO_COLOR: 'No colours.',
  HTTP_PROXY: 'Proxy for plain requests; also in lower case.',
  HTTPS_PROXY: 'Proxy for encrypted requests; also in lower case.',
  ALL_PROXY: 'Proxy for both, where neither of these is set; also in lower case.',
  NO_PROXY: 'Hosts that are reached without a proxy; also in lower case.',
};
export const documentedVariables = (): readonly string[] => Object.keys(VARIABLES);

/** Names of environment variables that stand in the sources. */
export const usedVariables = (): readonly string[] => {
  const texts = ['kernel', 'plugins', 'cli'].flatMap((folder) => filesBelow(folder)).flatMap((file) => [...nodesOf(parse(file))].flatMap(textIn));
  return [...new Set(texts.filter((text) => /^(?:(?:CAST|OPENAI)_[A-Z_]+|NO_COLOR|(?:HTTPS?|NO|ALL)_PROXY)$/.test(text)))].sort();
};
const textIn = (node: ts.Node): readonly string[] => {
  if (ts.isStringLiteralLike(node)) return [node.text];
  return ts.isPropertyAccessExpression(node) || ts.isPropertyAssignment(node) ? [node.name.getText()] : [];
};

const environment = (): string => `## Environment

${table(
  ['Variable', 'Meaning'],
  Object.entries(VARIABLES).map(([name, about]) => [code(name), about]),
)}`;

const limits = (): string => {
  let about = '';
  const rows = entriesOf('kernel/limits.ts', 'LIMITS').map(({ name, comment }) => {
    // One comment may stand over several lines that belong together.
    about = comment || about;
    return [code(name), figure(LIMITS[name as keyof typeof LIMITS]), about];
  });
  return `## Bounds of the kernel

Nothing in cast is without a bound. These are fixed, unless the table says otherwise.

${table(['Bound', 'Value', 'Of what, and why'], rows)}`;
};

export const configPage = async (): Promise<string> => page(INTRODUCTION, layers(), settings(), await options(), environment(), limits());
