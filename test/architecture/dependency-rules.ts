/** Who may import whom, types included. `cruise` runs these rules over a tree that has the folders of the project. */
import { cruise as run, type ICruiseResult, type IForbiddenRuleType, type IModule, type IRegularForbiddenRuleType } from 'dependency-cruiser';

const ENTRIES = '^(?:cli/(?:cli|index)|kernel/(?:index|testkit/index))\\.ts$';
/** `import type`, and `import('…').Name` where a type stands: nothing is loaded. */
export const TYPES = ['type-only', 'type-import'] as const;
const KERNEL_PACKAGES = ['tapable', '@cfworker/json-schema'];

const rule = (name: string, from: IRegularForbiddenRuleType['from'], to: IRegularForbiddenRuleType['to'], comment: string): IForbiddenRuleType => ({
  name,
  severity: 'error',
  comment,
  from,
  to,
});

export const RULES: readonly IForbiddenRuleType[] = [
  rule('kernel-stands-alone', { path: '^kernel/' }, { path: '^(?:plugins|cli)/' }, 'The kernel knows no feature and no surface.'),
  rule(
    'kernel-packages',
    { path: '^kernel/' },
    { path: 'node_modules/', pathNot: `node_modules/(?:@types/node|${KERNEL_PACKAGES.join('|')})/` },
    `The kernel needs ${KERNEL_PACKAGES.join(' and ')}, nothing else.`,
  ),
  rule(
    'plugin-sees-the-face',
    { path: '^plugins/' },
    { path: '^kernel/', pathNot: '^kernel/index\\.ts$' },
    'A plugin is written as a third party would write it.',
  ),
  rule(
    'plugin-keeps-to-itself',
    { path: '^plugins/([^/]+)/' },
    { path: '^plugins/', pathNot: '^plugins/$1/' },
    'Plugins meet through services, hooks and registries.',
  ),
  ...['chat', 'responses'].map((format) =>
    rule(
      `wire-${format}-keeps-to-itself`,
      { path: '^plugins/providers/', pathNot: `^plugins/providers/${format}/` },
      { path: `^plugins/providers/${format}/`, pathNot: `^plugins/providers/${format}/wire\\.ts$` },
      'There is one conversation; the shapes of a wire format never leave its folder.',
    ),
  ),
  rule('plugin-knows-no-cli', { path: '^plugins/' }, { path: '^cli/' }, 'Plugins run in every surface.'),
  rule(
    'cli-takes-manifests',
    { path: '^cli/', pathNot: '^cli/builtins\\.ts$' },
    { path: '^plugins/', pathNot: '^plugins/[^/]+/manifest\\.ts$' },
    'The command line reads what plugins say about themselves, not their code.',
  ),
  rule(
    'builtins-take-manifest-and-body',
    { path: '^cli/builtins\\.ts$' },
    { path: '^plugins/', pathNot: '^plugins/[^/]+/(?:manifest|index)\\.ts$' },
    'The table of built-ins names two files a plugin.',
  ),
  rule(
    'bodies-come-late',
    { path: '^cli/builtins\\.ts$' },
    { path: '^plugins/[^/]+/index\\.ts$', dynamic: false },
    'The code of a plugin is loaded when its activation says so.',
  ),
  rule(
    'hooks-know-no-session',
    { path: '^kernel/hooks/' },
    { path: '^kernel/(?:session|call|reply|turn|host|testkit)/' },
    'Hooks are below sessions: they get what they need as arguments.',
  ),
  rule('session-runs-no-turn', { path: '^kernel/session/' }, { path: '^kernel/(?:call|reply|turn|host|testkit)/' }, 'A session gets the turn handed in.'),
  rule(
    'calls-and-replies-know-no-loop',
    { path: '^kernel/(?:call|reply)/' },
    { path: '^kernel/turn/' },
    'What one call or one reply is does not depend on the loop.',
  ),
  rule(
    'turn-knows-no-host',
    { path: '^kernel/(?:call|reply|turn)/' },
    { path: '^kernel/(?:host|testkit)/' },
    'The loop is about one session, whatever started it.',
  ),
  rule('host-needs-no-testkit', { path: '^kernel/(?!testkit/)' }, { path: '^kernel/testkit/' }, 'What runs does not depend on what tests it.'),
  rule(
    'ground-is-ground',
    { path: '^kernel/(?:(?!index\\.ts$)[^/]+$|contracts/)' },
    { path: '^kernel/(?:hooks|session|call|reply|turn|host)/', dependencyTypesNot: [...TYPES] },
    'Data, errors, limits and contracts are below all else; of hooks they take types.',
  ),
  rule(
    'contracts-are-types',
    { path: '^kernel/contracts/' },
    { path: '.', dependencyTypesNot: [...TYPES] },
    'A contract can be read without running anything.',
  ),
  rule(
    'no-circle',
    {},
    { circular: true, viaOnly: { dependencyTypesNot: [...TYPES] } },
    'Modules that need each other to load are one module; types may refer to each other.',
  ),
  rule('no-riddle', {}, { couldNotResolve: true }, 'Every import leads somewhere.'),
  {
    name: 'no-dead-file',
    severity: 'error',
    comment: 'What no entry leads to is not part of cast.',
    from: { path: ENTRIES },
    to: { path: '^(?:kernel|plugins|cli)/', pathNot: ENTRIES, reachable: false },
  },
];

export interface Findings {
  /** Source files that were read. */
  readonly modules: readonly IModule[];
  /** `rule: from → to`, sorted. */
  readonly violations: readonly string[];
}

/** `root` holds kernel/, plugins/ and cli/. */
export const cruise = async (root: string): Promise<Findings> => {
  const { output } = await run(
    ['kernel', 'plugins', 'cli'],
    {
      baseDir: root,
      ruleSet: { forbidden: [...RULES] },
      validate: true,
      // Else `import type` would be free.
      tsPreCompilationDeps: true,
      doNotFollow: { path: 'node_modules' },
      exclude: { path: '^cli/demo/' },
    },
    { extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'], conditionNames: ['node', 'import'], exportsFields: ['exports'] },
  );
  if (typeof output === 'string') throw new Error(`dependency-cruiser answered with text: ${output.slice(0, 200)}`);
  const { modules, summary } = output satisfies ICruiseResult;
  return {
    modules: modules.filter(({ source }) => /^(?:kernel|plugins|cli)\//.test(source)),
    violations: summary.violations.map(({ rule: { name }, from, to }) => `${name}: ${from} → ${to}`).sort(),
  };
};
