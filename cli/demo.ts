/** `cast demo`: a whole turn on a throw-away project. All of it is real but the model, whose replies are recorded. */
import { rmSync } from 'node:fs';
import { cp, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { CastError, type CastEvent, type EventMap, type Kernel } from '../kernel/index.ts';
import { createSpawner } from '../kernel/host/spawn.ts';
import type { Environment } from './config/environment.ts';
import { INTERRUPTED } from './interrupts.ts';
import { shippedFolder } from './package.ts';
import { endKernel, startKernel } from './processes.ts';
import { remarkOn } from './run-formats.ts';
import { exitProcess, type Stdio } from './stdio.ts';
import { count, createPaint, plainLines, type Paint } from './style.ts';

const PROMPT = 'A test fails. Find out why, and mend it.';
/** The whole demo takes about a second. */
const LONGEST_MS = 30_000;
/** Lines of a command's output that are shown. */
const SHOWN_LINES = 3;

export interface DemoOptions {
  readonly stdio: Stdio;
  readonly environment: Environment;
}

/** 0 when the test of the project really passes at the end. */
export const playDemo = async ({ stdio, environment }: DemoOptions): Promise<number> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'cast-demo-')));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => exitProcess(INTERRUPTED));
  const project = join(folder, 'project');
  const own = ownEnvironment(environment);
  const kernel = startKernel(join(folder, 'home'), stdio, environment);
  try {
    await cp(join(shippedFolder('demo'), 'project'), project, { recursive: true });
    const paint = createPaint(stdio.isTerminal.out, environment);
    await stdio.out(`${paint.dim('A real turn in a copy of a small project; only the model is a recording.')}\n\n${paint.cyan('❯')} ${paint.bold(PROMPT)}\n\n`);
    const end = await turn(kernel, { project, environment: own, print: (text) => stdio.out(text), paint });
    const passes = await testPasses(project, own);
    await stdio.out(`\n${verdict(end, passes, paint)}\n`);
    return passes && end.exitCode === 0 ? 0 : 1;
  } finally {
    await endKernel(kernel, 'the demo is over');
    remove();
  }
};

/** Nothing of the user's own settings, and the node that runs cast first on the path. */
const ownEnvironment = (environment: Environment): Environment => ({
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => !/^(?:CAST_|OPENAI_|NODE_TEST_CONTEXT$)/.test(name))),
  PATH: [dirname(process.execPath), environment['PATH']].filter(Boolean).join(delimiter),
});

interface Stage {
  readonly project: string;
  readonly environment: Environment;
  readonly print: (text: string) => Promise<void>;
  readonly paint: Paint;
}

const turn = async (kernel: Kernel, { project, environment, print, paint }: Stage): Promise<EventMap['turn.ended']> => {
  const file = join(shippedFolder('demo'), 'recording.json');
  const { client } = await kernel.open({
    cwd: project,
    root: project,
    environment,
    interactive: false,
    layers: [{ name: 'flags', data: { provider: 'replay', model: 'recorded', plugins: { replay: { file } } } }],
    plugins: [],
  });
  const events = client.events(0, AbortSignal.timeout(LONGEST_MS));
  await client.submit({ text: PROMPT, clientId: 'demo' });
  for await (const event of events) {
    const text = drawn(event, paint);
    if (text !== undefined) await print(text);
    if (event.type === 'turn.ended') return event.data;
  }
  throw new CastError('INTERNAL', `the demo did not end within ${LONGEST_MS / 1000} s`);
};

const drawn = (event: CastEvent, paint: Paint): string | undefined => {
  if (event.type === 'text.delta') return plainLines(event.data.text);
  if (event.type === 'reply.accepted') return event.data.visible === '' ? undefined : '\n';
  if (event.type === 'tool.ended') return outcome(event.data, paint);
  const remark = remarkOn(event);
  return remark === undefined ? undefined : `${paint.dim(remark)}\n`;
};

const outcome = ({ tool, status, content }: EventMap['tool.ended'], paint: Paint): string => {
  const mark = status === 'ok' ? paint.green('✓') : paint.red('✗');
  const lines = plainLines(content).split('\n');
  const shown = tool === 'edit' ? lines.filter((line) => /^[+-] /.test(line)) : tool === 'bash' ? testSummary(lines) : [];
  const detail = shown.map((line) => `      ${line.startsWith('+') ? paint.green(line) : line.startsWith('-') ? paint.red(line) : paint.dim(line)}\n`);
  return `    ${mark} ${tool}\n${detail.join('')}`;
};

/** The counts that node's test runner ends with. */
const testSummary = (lines: readonly string[]): readonly string[] => lines.filter((line) => /^\S+ (?:tests|pass|fail) \d+$/.test(line)).slice(0, SHOWN_LINES);

const testPasses = async (project: string, environment: Environment): Promise<boolean> => {
  const given = Object.fromEntries(Object.entries(environment).filter((pair): pair is [string, string] => pair[1] !== undefined));
  const spawner = createSpawner({ environment: given, plugin: 'cast demo', prepare: async (spec) => spec });
  const result = await spawner.run([process.execPath, '--test'], { cwd: project, purpose: 'demo', signal: AbortSignal.timeout(LONGEST_MS) });
  return result.code === 0;
};

const verdict = ({ steps, toolCalls, durationMs }: EventMap['turn.ended'], passes: boolean, paint: Paint): string =>
  passes
    ? `${paint.green('✓')} The test passes. ${count(steps, 'model call')}, ${count(toolCalls, 'tool call')}, ${(durationMs / 1000).toFixed(1)} s.\n  With a model of your own: cast run "…"`
    : `${paint.red('✗')} The test does not pass. \`cast doctor\` may say what is missing here.`;
