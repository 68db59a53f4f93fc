/** `/permissions`: what may run without asking, and changes to it. */
import { CastError, type Command, type Grant, type Sketch } from '../../kernel/index.ts';
import type { Mode } from './decide.ts';
import type { Grants } from './grants.ts';

const MODES: readonly Mode[] = ['default', 'ask', 'bypass'];
const USAGE = '/permissions [default|ask|bypass] | allow|deny [--project|--user] RULE | revoke RULE';

export const permissionsCommand = (grants: Grants): Command => ({
  name: 'permissions',
  summary: 'Shows and changes what may run without asking',
  args: '[default|ask|bypass] | allow|deny [--project|--user] RULE | revoke RULE',
  whileRunning: true,
  complete: (args) => [...MODES, 'allow', 'deny', 'revoke'].filter((word) => word.startsWith(args.trim())),
  run: async (args) => {
    await grants.ready();
    const [, verb = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(args) ?? [];
    if (verb === '' || verb === 'list') return overview(grants);
    const mode = MODES.find((each) => each === verb);
    if (mode) {
      await grants.setMode(mode);
      return `Permissions are in mode ${mode} for this session.`;
    }
    if (verb === 'allow' || verb === 'deny') return add(grants, verb, rest);
    if (verb === 'revoke') return revoke(grants, rest);
    throw new CastError('CLI_USAGE', `/permissions does not know ${JSON.stringify(verb)}`, { fix: USAGE });
  },
});

const add = async (grants: Grants, decision: Grant['decision'], rest: string): Promise<string> => {
  const [, flag, rule = ''] = /^(?:--(project|user)\s+)?([\s\S]*)$/.exec(rest) ?? [];
  if (rule === '') throw new CastError('CLI_USAGE', `/permissions ${decision} needs a rule`, { fix: USAGE });
  const from = flag === 'project' || flag === 'user' ? flag : 'session';
  await grants.add({ rule, decision, from });
  return `${rule} is now ${decision === 'allow' ? 'allowed' : 'denied'} (${from}).`;
};
const revoke = async (grants: Grants, rule: string): Promise<string> => {
  if (await grants.revoke(rule)) return `${rule} is no longer kept.`;
  const configured = grants.list().some((grant) => grant.rule === rule);
  throw new CastError('CLI_USAGE', configured ? `${rule} stands in the configuration and is changed there` : `no rule ${rule} is kept`, {
    fix: '`/permissions` lists all rules.',
  });
};

const overview = (grants: Grants): Sketch => {
  const rows = grants.rules().map((rule) => ({
    cells: [rule.decision, rule.text, rule.from, rule.folder ?? ''],
    ...(rule.from === 'session' || rule.from === 'project' || rule.from === 'user'
      ? { actions: [{ label: 'revoke', command: `/permissions revoke ${rule.text}` }] }
      : {}),
  }));
  const mode: Sketch = { kind: 'text', text: `Mode: ${grants.mode}` };
  return rows.length === 0 ? mode : { kind: 'rows', rows: [mode, { kind: 'table', head: ['decision', 'rule', 'from', 'folder'], rows }] };
};
