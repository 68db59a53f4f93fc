import { definePlugin, defineTool, jsonSchema } from '../../kernel/index.ts';
import type { Bench } from './bench.ts';
import { MAX_TIMEOUT_S, type ShellLimits } from './limits.ts';
import { manifest } from './manifest.ts';

/** Milliseconds, lines, UTF-8 bytes. The ceilings stay below what the kernel takes as a result. */
const options = jsonSchema<ShellLimits, Partial<ShellLimits>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    timeoutMs: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_TIMEOUT_S * 1000,
      default: 180_000,
      description: 'Milliseconds until a command is killed; a call may ask for another limit.',
    },
    maxLines: { type: 'integer', minimum: 1, maximum: 100_000, default: 2000, description: 'Lines of output that reach the model; the last ones are kept.' },
    maxBytes: { type: 'integer', minimum: 1000, maximum: 250_000, default: 131_072, description: 'UTF-8 bytes of output that reach the model.' },
  },
});

const describe = ({ timeoutMs, maxLines, maxBytes }: ShellLimits): string =>
  [
    'Runs a command with `bash -c` in the working directory and returns what it printed, both streams together, with its exit status.',
    'Each call is a new shell: `cd` and variables do not last.',
    'There is no terminal and no input: pass flags instead of answering questions (`git commit -m`, `--yes`). Editors and pagers are off.',
    `Of long output the last ${maxLines} lines or ${maxBytes} bytes are returned; the whole is kept in a file that the result names.`,
    `The command and all that it started are killed after ${timeoutMs / 1000} seconds, or after \`timeout\`.`,
    'Prefer the tools for reading, searching and editing files over cat, grep, find and sed.',
  ].join(' ');

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    let opened: Promise<Bench> | undefined;
    const open = async (): Promise<Bench> => {
      const { openBench } = await import('./bench.ts');
      return openBench({
        process: scope.powers.process,
        limits: scope.options,
        shell: scope.environment['CAST_BASH'],
        nextMark: () => scope.ids.next('command'),
      });
    };
    scope.onDispose(async () => (await opened)?.close());
    scope.registries.tools.add(
      defineTool({
        name: 'bash',
        description: describe(scope.options),
        input: jsonSchema<{ command: string; timeout?: number }>({
          type: 'object',
          properties: {
            command: { type: 'string', description: 'What to run. May hold several lines.' },
            timeout: {
              type: 'number',
              description: `Seconds, at most ${MAX_TIMEOUT_S}; default ${scope.options.timeoutMs / 1000}. Zero or less counts as not given.`,
            },
          },
          required: ['command'],
        }),
        effect: 'exec',
        aliases: ['run', 'shell', 'run_command', 'execute'],
        run: async (input, call) => {
          opened ??= open();
          const [bench, { runCommand }] = await Promise.all([opened, import('./run.ts')]);
          return runCommand(input, call, bench);
        },
      }),
    );
  },
});
