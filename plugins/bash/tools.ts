/** What the model is told of the tools, and where their code is. */
import { defineTool, jsonSchema, type Tool, type ToolInputs } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import { MAX_TIMEOUT_S, MAX_WAIT_S, type ShellLimits } from './limits.ts';

type OpenBench = () => Promise<Bench>;

const describeBash = ({ timeoutMs, foregroundMs, maxLines, maxBytes }: ShellLimits, hasBackground: boolean): string =>
  [
    'Runs a command with `bash -c` in the working directory and returns what it printed, both streams together, with its exit status.',
    'Each call is a new shell: `cd` and variables do not last.',
    'There is no terminal and no input: pass flags instead of answering questions (`git commit -m`, `--yes`). Editors and pagers are off.',
    `Of long output the first lines and the end are returned, ${maxLines} lines or ${maxBytes} bytes in all; the whole is kept in a file that the result names.`,
    hasBackground
      ? `A command that still runs after ${foregroundMs / 1000} seconds, or just before \`timeout\`, is not killed: it goes on in the background as a task (\`bg-1\`). ` +
        'Servers and watchers belong there from the start: `run_in_background`. `bash_output` shows what a task prints, `bash_kill` ends it, and you are told when it ends: do not poll in a loop.'
      : `The command and all that it started are killed after ${timeoutMs / 1000} seconds, or after \`timeout\`.`,
    'Prefer the tools for reading, searching and editing files over cat, grep, find and sed.',
  ].join(' ');

export const bashTool = (limits: ShellLimits, hasBackground: boolean, open: OpenBench): Tool =>
  defineTool({
    name: 'bash',
    description: describeBash(limits, hasBackground),
    input: jsonSchema<ToolInputs['bash']>({
      type: 'object',
      properties: {
        command: { type: 'string', description: 'What to run. May hold several lines.' },
        timeout: {
          type: 'number',
          description: hasBackground
            ? `Seconds, at most ${MAX_TIMEOUT_S}. A call waits a second less, at most ${limits.foregroundMs / 1000}; with \`run_in_background\` the command is killed then, without it never. Zero or less counts as not given.`
            : `Seconds, at most ${MAX_TIMEOUT_S}; default ${limits.timeoutMs / 1000}. Zero or less counts as not given.`,
        },
        ...(hasBackground ? { run_in_background: { type: 'boolean', description: 'Return at once; the command goes on as a task.' } } : {}),
      },
      required: ['command'],
    }),
    effect: 'exec',
    aliases: ['run', 'shell', 'run_command', 'execute'],
    repair: true,
    run: async (input, call) => {
      const [bench, { runCommand }] = await Promise.all([open(), import('./run.ts')]);
      return runCommand(input, call, bench);
    },
  });

const taskId = { type: 'string', description: 'As `bash` gave it, e.g. `bg-1`' };

export const outputTool = (open: OpenBench): Tool =>
  defineTool({
    name: 'bash_output',
    description:
      'Shows how a task in the background is, and what it has printed since you last saw its output. ' +
      'An exit with another status than 0, a signal and a timeout are errors here as in `bash`.',
    input: jsonSchema<ToolInputs['bash_output']>({
      type: 'object',
      properties: {
        task_id: taskId,
        wait: { type: 'number', description: `Seconds to wait for its end, 0 to ${MAX_WAIT_S}; default 0` },
      },
      required: ['task_id'],
    }),
    effect: 'read',
    aliases: ['BashOutput', 'get_output', 'task_output'],
    repair: true,
    run: async (input, call) => {
      const [bench, { readTask }] = await Promise.all([open(), import('./task-calls.ts')]);
      return readTask(input, call, bench);
    },
  });

export const killTool = (open: OpenBench): Tool =>
  defineTool({
    name: 'bash_kill',
    description: 'Ends a task in the background, with all that it has started.',
    input: jsonSchema<ToolInputs['bash_kill']>({ type: 'object', properties: { task_id: taskId }, required: ['task_id'] }),
    effect: 'exec',
    aliases: ['KillBash', 'KillShell', 'kill_shell', 'kill_task'],
    repair: true,
    run: async (input) => {
      const [bench, { killTask }] = await Promise.all([open(), import('./task-calls.ts')]);
      return killTask(input, bench);
    },
  });
