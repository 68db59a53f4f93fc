import { homedir, tmpdir } from 'node:os';
import { definePlugin, jsonSchema } from '../../kernel/index.ts';
import { permissionsCommand } from './command.ts';
import { Grants } from './grants.ts';
import { manifest } from './manifest.ts';
import type { Places } from './places.ts';

interface Options {
  /** Further folders that may be written without asking; `--add-dir` adds to them. */
  readonly directories: readonly string[];
}

export default definePlugin({
  ...manifest,
  options: jsonSchema<Options, Partial<Options>>({
    type: 'object',
    additionalProperties: false,
    properties: { directories: { type: 'array', items: { type: 'string' }, default: [], description: 'Further folders that may be written without asking.' } },
  }),
  apply(scope) {
    const grants = new Grants(scope);
    scope.services.provide('grants', grants);
    scope.registries.commands.add(permissionsCommand(grants));

    const canonical = (path: string): Promise<string> => scope.powers.fs.canonical(path, scope.session.root);
    const findPlaces = async (): Promise<Places> => ({
      root: await canonical(scope.session.root),
      home: await canonical(scope.environment['HOME'] ?? homedir()),
      castHome: await canonical(scope.home),
      writable: await Promise.all([tmpdir(), scope.environment['TMPDIR'] ?? tmpdir(), ...scope.options.directories].map(canonical)),
    });
    let places: Promise<Places> | undefined;

    // Calls about which this plugin asked without a rule: no remembered yes may answer for them.
    const unruled = new Set<string>();
    scope.events.on('turn.ended', () => unruled.clear());

    scope.hooks.gate.tap('rules, dangerous commands and paths', { stage: 'policy' }, async (call) => {
      const [{ decide }] = await Promise.all([import('./decide.ts'), grants.ready()]);
      places ??= findPlaces();
      const { interactive } = scope.session;
      const vote = decide(call, { mode: grants.mode, rules: grants.rules(), shell: scope.services.find('shell'), places: await places, interactive });
      unruled.delete(call.id);
      if (vote && 'ask' in vote && vote.rule === undefined) unruled.add(call.id);
      return vote;
    });

    // Only what gates ask about a call: a judge's question, or one of a plugin's own, is for a person.
    scope.hooks.ask.tap('bypass and remembered answers', { stage: 'policy' }, async (question) => {
      if (question.kind !== 'tool') return undefined;
      if (grants.mode === 'bypass') return { choice: 'once', by: 'permissions' };
      if (question.call && unruled.has(question.call.id)) return undefined;
      await grants.ready();
      return grants.hold(question.rules, scope.session.cwd) ? { choice: 'once', by: 'permissions' } : undefined;
    });

    scope.events.on('question.answered', ({ choice, by, rules, path }) => {
      // An answer to a child is remembered there, for the folder it stands in.
      if ((choice !== 'session' && choice !== 'project') || by === 'permissions' || path) return;
      grants.remember(rules, choice, scope.session.cwd).catch((error: unknown) => scope.warn(`The answer could not be remembered: ${String(error)}`));
    });
  },
});
