/** `cast doctor`: what cast needs, tried out one by one. */
import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Command, Option } from 'clipanion';
import { isCastError, messageOf, type Client, type CommandOutcome } from '../kernel/index.ts';
import { systemClock } from '../kernel/host/clock.ts';
import { mergeLayers } from '../kernel/host/config.ts';
import { createSpawner, type Spawner } from '../kernel/host/spawn.ts';
import { CastCommand } from './arguments.ts';
import type { Environment } from './config/environment.ts';
import { shownAddress } from './hidden.ts';
import { activeProvider } from './model.ts';
import { openOptionsOf, type Opening } from './opening.ts';
import { endKernel, startKernel } from './processes.ts';
import type { Stdio } from './stdio.ts';
import { alignRows, createPaint, oneLine } from './style.ts';

/** Each check has this long. */
const PATIENCE_MS = 5_000;
const OLDEST_NODE = [20, 20] as const;

interface Finding {
  readonly name: string;
  readonly isFine: boolean;
  readonly detail: string;
}

export class DoctorCommand extends CastCommand {
  static override paths = [['doctor']];
  static override usage = Command.Usage({ description: 'Checks node, store, programs, provider and configuration' });
  json = Option.Boolean('--json', false, { description: 'As JSON' });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    const { home, cwd } = this.place();
    const { finding: config, opening } = await this.#configuration();
    const spawner = createSpawner({ environment: defined(environment), plugin: 'cast doctor', prepare: async (spec) => spec });
    const findings = [
      node(),
      config,
      await check('home', () => homeFolder(home)),
      await check('store', () => store(home, stdio, environment)),
      await check('sqlite', native),
      await check('ripgrep', async () => version(spawner, [(await import('@vscode/ripgrep')).rgPath, '--version'], cwd)),
      await check('git', () => version(spawner, ['git', '--version'], cwd)),
      await check('bash', () => version(spawner, [environment['CAST_BASH'] ?? 'bash', '--version'], cwd)),
      ...(opening ? [await check('provider', () => provider(opening, stdio))] : []),
    ];
    if (this.json) await this.print(JSON.stringify(findings, null, 2));
    else {
      const paint = createPaint(stdio.isTerminal.out, environment);
      const rows = alignRows(findings.map(({ name, detail }) => [name, oneLine(detail)]));
      await this.print(rows.map((row, index) => `${findings[index]?.isFine ? paint.green('✓') : paint.red('✗')} ${row}`));
    }
    return findings.every(({ isFine }) => isFine) ? 0 : 1;
  }

  async #configuration(): Promise<{ readonly finding: Finding; readonly opening?: Opening }> {
    try {
      const opening = await this.open({});
      this.remark(opening);
      const files = opening.layers.flatMap(({ file }) => (file === undefined ? [] : [file]));
      return { finding: { name: 'config', isFine: true, detail: files.join(', ') || 'no file' }, opening };
    } catch (error) {
      return { finding: failed('config', error) };
    }
  }
}

/** Throws what is wrong; returns what was found. */
type Check = () => Promise<string>;

const check = async (name: string, run: Check): Promise<Finding> => {
  try {
    return { name, isFine: true, detail: await run() };
  } catch (error) {
    return failed(name, error);
  }
};
const failed = (name: string, error: unknown): Finding => ({
  name,
  isFine: false,
  detail: `${messageOf(error).replace(/\.$/, '')}${isCastError(error) && error.fix !== undefined ? `. ${error.fix}` : ''}`,
});

const node = (): Finding => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isFine = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return {
    name: 'node',
    isFine,
    detail: `${process.version}, ${process.platform} ${process.arch}${isFine ? '' : `; ${OLDEST_NODE.join('.')} or newer is needed`}`,
  };
};

const homeFolder: (home: string) => Promise<string> = async (home) => {
  const found = await stat(home).catch(() => undefined);
  if (!found) return `${home}, not there yet`;
  if (!found.isDirectory()) throw new Error(`${home} is no folder`);
  await access(home, constants.W_OK).catch(() => Promise.reject(new Error(`${home} cannot be written`)));
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) throw new Error(`${home} can be read by others: chmod 700 ${home}`);
  return home;
};

const store = async (home: string, stdio: Stdio, environment: Environment): Promise<string> => {
  const kernel = startKernel(home, stdio, environment);
  try {
    const opened = await kernel.store();
    await opened.list({ limit: 1 });
    if (opened.place !== undefined) await access(opened.place, constants.W_OK).catch(() => access(dirname(opened.place ?? ''), constants.W_OK));
    return opened.place ?? opened.name;
  } finally {
    await endKernel(kernel, 'checked');
  }
};

const native: Check = async () => {
  const { default: Database } = await import('better-sqlite3');
  const database = new Database(':memory:');
  try {
    return `SQLite ${String(database.prepare('SELECT sqlite_version()').pluck().get())}`;
  } finally {
    database.close();
  }
};

const version = async (spawner: Spawner, argv: readonly string[], cwd: string): Promise<string> => {
  const result = await spawner.run(argv, { cwd, purpose: 'doctor', signal: AbortSignal.timeout(PATIENCE_MS * 2), timeoutMs: PATIENCE_MS });
  if (result.code !== 0)
    throw new Error(result.timedOut ? `${argv[0]} did not answer within ${PATIENCE_MS / 1000} s` : `${argv[0]}: ${result.err.trim() || `exit ${result.code}`}`);
  return result.out.split('\n', 1)[0] ?? '';
};

/** Asked for its models as a session would: with its own credentials, and with none that are meant for another host. */
const provider = async (opening: Opening, stdio: Stdio): Promise<string> => {
  const config = mergeLayers(opening.layers).value;
  const { name, settings } = activeProvider(config);
  if (!settings) return `${name}, brought by a plugin`;
  if (config.model === undefined) throw new Error(`${name} is configured, but no model: set CAST_MODEL, or \`model\` in settings.json`);
  const kernel = startKernel(opening.home, stdio, opening.environment);
  try {
    const { client } = await kernel.open({ ...openOptionsOf(opening), ephemeral: true });
    const outcome = await answerOf(client);
    if (!outcome) throw new Error(`${name} did not answer within ${PATIENCE_MS / 1000} s`);
    if (!outcome.ok) throw new Error([outcome.message.replace(/\.$/, ''), outcome.suggestedFix].filter((text) => text !== undefined).join('. '));
    // A server without a list of models is reached all the same.
    return `${name}${settings.baseUrl === undefined ? '' : ` at ${shownAddress(settings.baseUrl)}`}, model ${config.model}`;
  } finally {
    await endKernel(kernel, 'checked');
  }
};

/** Undefined when it took too long. */
const answerOf = async (client: Client): Promise<CommandOutcome | undefined> => {
  const over = new AbortController();
  const late = systemClock.sleep(PATIENCE_MS, over.signal).then(
    () => undefined,
    () => undefined,
  );
  const outcome = await Promise.race([client.command('model', ''), late]);
  if (!outcome) await client.abort('cancelled');
  over.abort();
  return outcome;
};

const defined = (environment: Environment): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined));
