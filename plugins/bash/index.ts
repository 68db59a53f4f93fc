import { definePlugin, jsonSchema, type Scope } from '../../kernel/index.ts';
import type { Background, Bench } from './bench.ts';
import type { ShellLimits } from './limits.ts';
import { manifest } from './manifest.ts';
import { Shared } from './shared.ts';
import { bashTool, killTool, outputTool } from './tools.ts';

const milliseconds = { type: 'integer', minimum: 1, maximum: 3_600_000 };

/** Milliseconds, lines, UTF-8 bytes. The ceilings stay below what the kernel takes as a result. */
const options = jsonSchema<ShellLimits, Partial<ShellLimits>>({
  type: 'object',
  additionalProperties: false,
  properties: {
    timeoutMs: { ...milliseconds, default: 180_000, description: 'Milliseconds until a command is killed; a call may ask for another limit.' },
    foregroundMs: {
      ...milliseconds,
      default: 60_000,
      description: 'Milliseconds until a command goes on in the background, in a session with a person.',
    },
    maxLines: {
      type: 'integer',
      minimum: 1,
      maximum: 100_000,
      default: 2000,
      description: 'Lines of output that reach the model: of longer output the first few and the last ones.',
    },
    maxBytes: { type: 'integer', minimum: 1000, maximum: 250_000, default: 131_072, description: 'UTF-8 bytes of output that reach the model.' },
  },
});

const numbered = jsonSchema<{ number: number }>({ type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] });

/** Numbers of tasks are in the session's entries, so that none is given twice, not even after a resume. */
const backgroundOf = (scope: Scope<ShellLimits, never>): Background => {
  const newest = scope.state<number, typeof numbered>({
    name: 'tasks',
    data: numbered,
    initial: 0,
    fold: (count, { number }) => Math.max(count, number),
  });
  return {
    count: () => newest.value,
    record: (number) => newest.record({ number }),
    tell: (text) => scope.submit(text, 'notice'),
    parts: (command) => scope.services.find('shell')?.parts(command),
  };
};

export default definePlugin({
  ...manifest,
  options,
  apply(scope) {
    const { session, registries } = scope;
    // In a pool, so that tasks outlive a renewal of the session's plugins.
    const shared = scope.host.pool(`bash/${session.id}`, () => new Shared(async () => new (await import('./remains.ts')).Remains()));
    scope.onDispose(shared.join());
    // A task must have somebody who is told of its end: neither a single run nor a child session is there then.
    const background = session.interactive && session.parent === undefined ? backgroundOf(scope) : null;
    const open = async (): Promise<Bench> => ({
      process: scope.powers.process,
      limits: scope.options,
      shells: scope.environment['CAST_BASH'] ? [scope.environment['CAST_BASH']] : ['bash', '/bin/bash'],
      remains: await shared.get(),
      background,
      nextMark: () => scope.ids.next('command'),
      now: () => scope.clock.now(),
    });
    registries.tools.add(bashTool(scope.options, background !== null, open));
    if (!background) return;
    registries.tools.add(outputTool(open));
    registries.tools.add(killTool(open));
  },
});
