import { describe, expect, test } from 'vitest';
import type { Effect, ShellService } from '../../../kernel/index.ts';
import { decide, type Mode, type Policy } from '../../../plugins/permissions/decide.ts';
import { parseRule, type Rule } from '../../../plugins/permissions/rules.ts';
import type { Judged } from '../../../plugins/permissions/subjects.ts';
import { dangersOf, isReadOnly, partsOf } from '../../../plugins/shell/analysis.ts';

const shell: ShellService = { parts: partsOf, isReadOnly, dangers: dangersOf };
const ROOT = '/srv/ws';
const places = { root: ROOT, home: '/home/ann', castHome: '/home/ann/.cast', writable: ['/tmp', '/data/added'] };

const rule = (text: string, decision: Rule['decision'], folder?: string): Rule => {
  const parsed = parseRule(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return { ...parsed, text, decision, from: 'config', ...(folder === undefined ? {} : { folder }) };
};
const policy = (mode: Mode, allow: readonly string[] = [], deny: readonly string[] = [], more: Partial<Policy> = {}): Policy => ({
  mode,
  rules: [...deny.map((text) => rule(text, 'deny')), ...allow.map((text) => rule(text, 'allow'))],
  shell,
  places,
  interactive: true,
  ...more,
});
const bash = (command: string, cwd = ROOT): Judged => ({ tool: 'bash', effect: 'exec', input: { command }, paths: [], cwd });
const file = (tool: string, path: string, effect: Effect = 'write'): Judged => ({ tool, effect, input: { path }, paths: [path], cwd: ROOT });
const other = (tool: string, input: Record<string, unknown>, effect: Effect = 'talk'): Judged => ({ tool, effect, input, paths: [], cwd: ROOT });

type Outcome = 'run' | 'ask' | 'deny';
const outcome = (call: Judged, by: Policy): Outcome => {
  const vote = decide(call, by);
  return vote === undefined ? 'run' : 'deny' in vote ? 'deny' : 'ask';
};

describe('a chained command is judged part by part (B066)', () => {
  const ALLOW = ['bash(git status:*)', 'bash(ls:*)', 'bash(head:*)'];
  test.each<[string, Outcome]>([
    ['git status', 'run'],
    ['git status -s', 'run'],
    ['ls | head', 'run'],
    ['ls && git status; ls -la', 'run'],
    ['ls > /dev/null 2>&1', 'run'],
    ['git status && touch P', 'ask'],
    ['ls; touch P', 'ask'],
    ['ls | tee P', 'ask'],
    ['ls & touch P', 'ask'],
    ['ls\ntouch P', 'ask'],
    ['ls || touch P', 'ask'],
    ['(ls; touch P)', 'ask'],
    ['if ls; then touch P; fi', 'ask'],
    ['ls > P', 'ask'],
    ['{ ls; } > P', 'ask'],
    ['git status-x', 'ask'],
    ['lsof', 'ask'],
    ['git', 'ask'],
    ['git  "status" -s', 'run'],
    ['git statusx', 'ask'],
    ['./ls', 'ask'],
    ['/tmp/ls', 'ask'],
  ])('%j: %s', (command, expected) => expect(outcome(bash(command), policy('ask', ALLOW))).toBe(expected));

  test.each([
    'ls && rm f',
    'rm f',
    'ls; rm -rf f',
    'ls | xargs rm',
    'echo $(rm f)',
    'env rm f',
    "bash -c 'rm f'",
    'command rm f',
    '/bin/rm f',
    '\\rm f',
    'X=1 rm f',
    'nohup rm f > log',
    'find . -exec rm {} +',
    '$X f',
    'eval "$X"',
    'rm f\n(',
    '"$(echo rm)" f',
  ])('deny wins anywhere: %j', (command) => {
    for (const mode of ['default', 'ask', 'bypass'] as const) expect(outcome(bash(command), policy(mode, ['bash', ...ALLOW], ['bash(rm:*)']))).toBe('deny');
  });
  test.each(['ls', 'echo rm f', 'git rm f', 'rmdir f', 'git commit -m "rm f"', '$HOME/bin/tool f'])('and meets nothing else: %j', (command) =>
    expect(outcome(bash(command), policy('default', ['bash'], ['bash(rm:*)']))).toBe('run'),
  );
});

describe('a word that is only known at run time may be the one that is denied', () => {
  const DENY = ['bash(git push:*)', 'bash(npm run deploy)'];
  test.each([
    'git $X',
    'X=push; git $X',
    'git "$(echo push)"',
    'git {push,}',
    'git -C sub $X',
    'git -c alias.p=push p',
    'npm $X',
    'npm run $X',
    'npm run deploy $X',
    'echo "git push" | sh',
  ])('%j is denied', (command) => {
    for (const mode of ['default', 'bypass'] as const) expect(outcome(bash(command), policy(mode, ['bash'], DENY))).toBe('deny');
  });
  test.each(['git add *.ts', 'git commit -m "$M"', 'git -C "$D" status', 'npm test $X', 'npm run build $X', 'npm run deploy now', 'echo $X'])(
    '%j is not',
    (command) => expect(outcome(bash(command), policy('default', ['bash'], DENY))).toBe('run'),
  );
});

describe('a path counts from every folder that a command goes to', () => {
  test.each([
    'cd .git/hooks && echo x > pre-commit',
    'cd /etc; echo x > passwd',
    'cd ~ && cat .ssh/id_rsa',
    'cd; cat .ssh/id_rsa',
    'pushd .cast && cd . && echo > settings.json',
  ])('%j is asked about', (command) => expect(outcome(bash(command), policy('default'))).toBe('ask'));
  test.each(['cd sub && echo x > out', 'cd "$X" && echo x > out', 'cd /tmp && echo x > out', 'cd -P sub; ls'])('%j runs', (command) =>
    expect(outcome(bash(command), policy('default'))).toBe('run'),
  );
  test('many folders are no trouble', () => expect(outcome(bash('cd a; '.repeat(2_000) + 'echo x > f'), policy('default'))).toBe('run'));
});

describe('nothing slips past an allowed prefix (B067)', () => {
  const ALLOW = ['bash(echo:*)', 'bash(ls:*)', 'bash(git diff:*)', 'bash(git log:*)', 'bash(find:*)', 'bash(cat:*)'];
  test.each([
    'echo $(touch P)',
    'echo `touch P`',
    'echo "$(touch P)"',
    'echo ${x:-$(touch P)}',
    'echo $(( $(touch P) ))',
    'cat <(touch P)',
    'cat <<E\n$(touch P)\nE',
    'env GIT_EXTERNAL_DIFF=./x git diff',
    'GIT_EXTERNAL_DIFF=./x git diff',
    'LD_PRELOAD=./x ls',
    'X=1; ls',
    'find . -exec touch P +',
    'find . -exec touch P \\;',
    'bash -c ls',
    "bash -c 'touch P'",
    'eval ls',
    'eval "touch P"',
    'bash <<E\ntouch P\nE',
    'echo "unbalanced',
    "echo 'unbalanced",
    'echo $(ls',
    'cat <<E\nopen',
    "git -c core.pager='touch P' log",
    'git -c diff.external=./x diff',
    'git -C elsewhere diff',
    'sudo ls',
    'time touch P',
    'xargs ls',
    '$X',
    '"l"$X',
    'l? a',
    '[[ -f a ]] && ls',
    'ls() { touch P; }; ls',
    'ls (touch P)',
  ])('%j is asked about', (command) => expect(outcome(bash(command), policy('ask', ALLOW))).toBe('ask'));

  test('what wraps and what is wrapped both need a rule', () => {
    expect(outcome(bash('timeout 5 ls'), policy('ask', ['bash(timeout:*)']))).toBe('ask');
    expect(outcome(bash('timeout 5 ls'), policy('ask', ['bash(timeout:*)', 'bash(ls:*)']))).toBe('run');
  });
  test('an assignment is covered by a rule that names it', () => {
    expect(outcome(bash('A=1 npm test'), policy('ask', ['bash(A=1 npm test:*)']))).toBe('run');
  });
  test('text that is not understood is asked about in every mode, whatever prefix is allowed', () => {
    for (const mode of ['default', 'ask', 'bypass'] as const) expect(outcome(bash('echo "x'), policy(mode, ALLOW))).toBe('ask');
  });
  test('without a grammar every command is asked about', () => {
    expect(outcome(bash('ls'), policy('default', ['bash(ls:*)'], [], { shell: undefined }))).toBe('ask');
  });
});

describe('modes', () => {
  test.each<[Mode, Judged, Outcome]>([
    ['default', bash('touch a'), 'run'],
    ['default', bash('rm -rf keep'), 'ask'],
    ['default', bash('echo hi-from-sudo'), 'run'],
    ['default', bash('echo "x'), 'ask'],
    ['default', file('write', `${ROOT}/a`), 'run'],
    ['default', file('read', '/etc/hosts', 'read'), 'run'],
    ['default', other('web_fetch', { url: 'https://example.org' }), 'run'],
    ['ask', bash('touch a'), 'ask'],
    ['ask', file('write', `${ROOT}/a`), 'ask'],
    ['ask', file('read', `${ROOT}/a`, 'read'), 'run'],
    ['ask', other('web_fetch', { url: 'https://example.org' }), 'ask'],
    ['ask', other('grep', { pattern: 'x' }, 'read'), 'run'],
    // Bypass answers questions; they are raised all the same.
    ['bypass', bash('rm -rf keep'), 'ask'],
    ['bypass', bash('touch a'), 'run'],
  ])('%s: %j', (mode, call, expected) => expect(outcome(call, policy(mode))).toBe(expected));
});

describe('protected, secret and outside paths', () => {
  test.each<[Judged, Outcome]>([
    [file('write', `${ROOT}/src/a.ts`), 'run'],
    [file('write', '/tmp/a'), 'run'],
    [file('write', '/data/added/a'), 'run'],
    [file('write', '/srv/ws2/a'), 'ask'],
    [file('edit', '/etc/hosts'), 'ask'],
    [file('write', '/home/ann/.bashrc'), 'ask'],
    [file('write', `${ROOT}/.git/hooks/pre-commit`), 'ask'],
    [file('write', `${ROOT}/.git/config`), 'ask'],
    [file('write', `${ROOT}/.GIT/Hooks/x`), 'ask'],
    [file('write', `${ROOT}/.git/modules/sub/config`), 'ask'],
    [file('write', `${ROOT}/sub/.git/hooks/x`), 'ask'],
    [file('write', `${ROOT}/cast.config.ts`), 'ask'],
    [file('write', `${ROOT}/.castrc.json`), 'ask'],
    [file('write', `${ROOT}/.cast/settings.local.json`), 'ask'],
    [file('write', `${ROOT}/.cast/hooks.json`), 'ask'],
    [file('write', `${ROOT}/.cast/mcp.json`), 'ask'],
    [file('write', `${ROOT}/.cast/plugins/x.ts`), 'ask'],
    [file('write', `${ROOT}/.cast/toolbox/x`), 'ask'],
    [file('write', `${ROOT}/.cast/plans/x.md`), 'run'],
    [file('write', `${ROOT}/.gitignore`), 'run'],
    [file('write', `${ROOT}/docs/cast.configuration.md`), 'run'],
    [file('write', '/home/ann/.cast/secrets.json'), 'ask'],
    [file('read', '/home/ann/.ssh/id_rsa', 'read'), 'ask'],
    [file('read', '/home/ann/.aws/credentials', 'read'), 'ask'],
    [file('read', '/home/ann/.gnupg/x', 'read'), 'ask'],
    [file('read', '/home/ann/.cast/secrets.json', 'read'), 'ask'],
    [file('read', '/home/ann/.cast/memory/a.md', 'read'), 'run'],
    [file('read', '/home/ann/.sshrc', 'read'), 'run'],
    [bash('echo x > a'), 'run'],
    [bash('echo x > /tmp/a'), 'run'],
    [bash('echo x > /dev/null'), 'run'],
    [bash('echo x >> /etc/hosts'), 'ask'],
    [bash('echo x > ../other'), 'ask'],
    [bash('echo x > ~/.bashrc'), 'ask'],
    [bash('echo x > .git/hooks/pre-commit'), 'ask'],
    [bash('{ echo x; } > cast.config.ts'), 'ask'],
    [bash('cat ~/.ssh/id_rsa'), 'ask'],
    [bash('cat "$HOME/.aws/credentials"'), 'ask'],
    [bash('cat /home/ann/.gnupg/x'), 'ask'],
  ])('%j: %s', (call, expected) => expect(outcome(call, policy('default'))).toBe(expected));

  test('a rule for all files does not take in a protected path or a secret; one that names it does', () => {
    const hook = file('write', `${ROOT}/.git/hooks/x`);
    for (const wide of ['edit', 'write', 'edit(**)', 'edit(.git/**)']) expect([wide, outcome(hook, policy('default', [wide]))]).toEqual([wide, 'ask']);
    for (const named of ['edit(.git/hooks/**)', 'edit(**/.git/hooks/x)', 'write(.git/hooks/x)'])
      expect([named, outcome(hook, policy('default', [named]))]).toEqual([named, 'run']);
    expect(outcome(file('read', '/home/ann/.ssh/config', 'read'), policy('default', ['read']))).toBe('ask');
    expect(outcome(file('read', '/home/ann/.ssh/config', 'read'), policy('default', ['read(~/.ssh/config)']))).toBe('run');
  });
  test('a workspace below $CAST_HOME is a workspace', () => {
    const inHome = { ...places, root: '/home/ann/.cast/worktrees/x' };
    expect(outcome({ ...file('write', '/home/ann/.cast/worktrees/x/a'), cwd: inHome.root }, policy('default', [], [], { places: inHome }))).toBe('run');
  });
});

describe('rules', () => {
  const A = `${ROOT}/src/a.ts`;
  test.each<[allow: string, call: Judged, expected: Outcome]>([
    ['bash(npm test)', bash('npm test'), 'run'],
    ['bash(npm test)', bash('npm test -- -u'), 'ask'],
    ['bash(npm test:*)', bash('npm test -- -u'), 'run'],
    ['bash(npm  test :*)', bash('npm test -- -u'), 'run'],
    ['bash(rm -rf keep)', bash('rm -rf keep'), 'run'],
    ['bash(rm -rf keep)', bash('rm -rf keep other'), 'ask'],
    ['bash(rm -rf *)', bash('rm -rf keep'), 'ask'],
    ['bash(echo x > out)', bash('echo x > out'), 'run'],
    ['bash(echo x)', bash('echo x > out'), 'ask'],
    ['bash(a && b)', bash('a && b'), 'run'],
    ['bash(echo $X:*)', bash('echo $X'), 'ask'],
    ["bash(echo '$X')", bash("echo '$X'"), 'run'],
    ['bash', bash('rm -rf keep'), 'run'],
    ['bash', bash('echo "x'), 'run'],
    ['edit(src/**)', file('edit', A), 'run'],
    ['edit(src/**)', file('write', A), 'run'],
    ['edit(./src/**)', file('write', A), 'run'],
    ['edit(src/**)', file('write', `${ROOT}/lib/a.ts`), 'ask'],
    ['edit(src/**)', file('write', '/other/src/a.ts'), 'ask'],
    ['edit(src/*.ts)', file('edit', `${ROOT}/src/deep/a.ts`), 'ask'],
    ['edit(src/**)', file('edit', `${ROOT}/src/.env`), 'run'],
    ['edit', file('write', A), 'run'],
    ['write(src/**)', file('write', A), 'run'],
    ['write(src/**)', file('edit', A), 'ask'],
    ['edit(/data/x/**)', file('write', '/data/x/a'), 'run'],
    ['edit(~/notes/**)', file('write', '/home/ann/notes/a'), 'run'],
    ['read(src/**)', file('write', A), 'ask'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://example.org/x' }), 'run'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://EXAMPLE.org:8443/x' }), 'run'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://docs.example.org/x' }), 'ask'],
    ['web_fetch(domain:*.example.org)', other('web_fetch', { url: 'https://docs.example.org/x' }), 'run'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://example.org.evil.net/' }), 'ask'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://evil.net/?example.org' }), 'ask'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'no url' }), 'ask'],
    ['mcp(github/list_issues)', other('mcp__github__list_issues', {}), 'run'],
    ['mcp(github/*)', other('mcp__github__list_issues', {}), 'run'],
    ['mcp(github/*)', other('mcp__gitlab__list_issues', {}), 'ask'],
    ['mcp(github/get_*)', other('mcp_call', { server: 'github', tool: 'get_issue', arguments: {} }), 'run'],
    ['mcp(github/get_*)', other('mcp_call', { server: 'github', tool: 'delete_repo', arguments: {} }), 'ask'],
    ['task', other('task', { prompt: 'x' }, 'exec'), 'run'],
    ['tasks', other('task', { prompt: 'x' }, 'exec'), 'ask'],
  ])('allow %s, %j: %s', (allow, call, expected) => expect(outcome(call, policy('ask', [allow]))).toBe(expected));

  test.each<[deny: string, call: Judged, expected: Outcome]>([
    ['bash', bash('ls'), 'deny'],
    ['bash(git push:*)', bash('git push'), 'deny'],
    ['bash(git push:*)', bash('git -C x push'), 'deny'],
    ['bash(git push:*)', bash('git pull'), 'run'],
    ['edit(secret/**)', file('write', `${ROOT}/secret/a`), 'deny'],
    ['write(secret/**)', file('edit', `${ROOT}/secret/a`), 'deny'],
    ['write', file('apply', `${ROOT}/a`), 'deny'],
    ['read(.env)', file('read', `${ROOT}/.env`, 'read'), 'deny'],
    ['web_fetch(domain:example.org)', other('web_fetch', { url: 'https://docs.example.org' }), 'deny'],
    ['mcp(github/*)', other('mcp_call', { server: 'github', tool: 'x' }), 'deny'],
  ])('deny %s, %j: %s', (deny, call, expected) => expect(outcome(call, policy('bypass', ['edit', 'write', 'bash', 'read', 'mcp'], [deny]))).toBe(expected));

  test('a rule for a folder holds in that folder only', () => {
    const by = policy('ask', [], [], { rules: [rule('bash(touch 1.txt)', 'allow', `${ROOT}/sub`)] });
    expect(outcome(bash('touch 1.txt', `${ROOT}/sub`), by)).toBe('run');
    expect(outcome(bash('touch 1.txt'), by)).toBe('ask');
  });
});

describe('what "always" would remember', () => {
  test.each<[Judged, string | undefined]>([
    [bash('touch 1.txt'), 'bash(touch 1.txt)'],
    [bash(' a && b '), 'bash(a && b)'],
    [bash('rm -rf *'), 'bash(rm -rf *)'],
    [bash('git status:*'), undefined],
    [bash(`echo ${'x'.repeat(3000)}`), undefined],
    [file('write', `${ROOT}/a[1].ts`), 'write(a\\[1\\].ts)'],
    [file('edit', '/etc/hosts'), 'edit(/etc/hosts)'],
    [{ ...file('edit', `${ROOT}/a`), paths: [`${ROOT}/a`, `${ROOT}/b`] }, undefined],
    [other('web_fetch', { url: 'https://example.org/x' }), 'web_fetch(domain:example.org)'],
    [other('mcp_call', { server: 's', tool: 't' }), 'mcp_call(s/t)'],
    [other('task', { prompt: 'x' }, 'exec'), 'task'],
  ])('%j: %s', (call, expected) => {
    const vote = decide(call, policy('ask'));
    expect(vote && 'ask' in vote ? vote.rule : 'no question').toBe(expected);
    if (expected !== undefined) expect(outcome(call, policy('ask', [expected]))).toBe('run');
  });

  test('and nothing else (B072)', () => {
    const by = policy('ask', ['bash(touch 1.txt)']);
    for (const command of ['rm 1.txt', 'touch ~/x', 'touch 1.txt 2.txt', 'touch 2.txt', 'touch 1.txt; ls', 'A=1 touch 1.txt'])
      expect(outcome(bash(command), by)).toBe('ask');
  });
});

describe('wording', () => {
  const ask = (call: Judged, interactive: boolean): string => {
    const vote = decide(call, policy('ask', [], [], { interactive }));
    return vote && 'ask' in vote ? vote.ask : '';
  };
  test('a person reads what would run, why it is asked and what a remembered yes covers', () => {
    expect(ask(bash('rm -rf keep'), true)).toBe(
      `bash wants to run (rm with -r or -f):\nrm -rf keep\nA remembered yes covers this very command, in the folder ${ROOT}.`,
    );
  });
  test('a model reads what was blocked, what else it can do and which flag a person could give', () => {
    const text = ask(bash("rm -rf 'keep'"), false);
    expect(text).toContain("Blocked: command matches a dangerous pattern (rm with -r or -f): rm -rf 'keep'");
    expect(text).toContain("--allow 'bash(rm -rf '\\''keep'\\'')'");
    expect(text).toContain('--bypass-permissions');
  });
  test('a long command is clipped', () => expect(ask(bash(`echo ${'x'.repeat(9000)}`), true).length).toBeLessThan(2000));
});
