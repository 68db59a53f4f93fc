/** What a person has allowed or forbidden beyond the configuration: for this session, this project, or everywhere. */
import { checkedBy, CastError, type Capability, type Grant, type GrantsService, type Scope } from '../../kernel/index.ts';
import type { Mode } from './decide.ts';
import { configuredRules, parseRule, type Rule } from './rules.ts';

interface Kept {
  readonly rule: string;
  readonly decision: Grant['decision'];
  /** Working directory that it is for; absent: any. */
  readonly folder?: string;
}
type Change = { readonly add: Kept } | { readonly revoke: string } | { readonly mode: Mode };
interface SessionState {
  readonly kept: readonly Kept[];
  readonly mode?: Mode;
}

const isKept = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const { rule, decision, folder } = value as Record<string, unknown>;
  return typeof rule === 'string' && (decision === 'allow' || decision === 'deny') && (folder === undefined || typeof folder === 'string');
};
const CHANGE = checkedBy<Change>(
  'a change of grants',
  ({ add, revoke, mode }) => isKept(add) || typeof revoke === 'string' || mode === 'default' || mode === 'ask' || mode === 'bypass',
);
const LIST = checkedBy<readonly Kept[]>('a list of grants', (value) => Array.isArray(value) && value.every(isKept));

const isSame = (a: Kept, b: Kept): boolean => a.rule === b.rule && a.decision === b.decision && a.folder === b.folder;
const added = (list: readonly Kept[], kept: Kept): readonly Kept[] => (list.some((each) => isSame(each, kept)) ? list : [...list, kept]);
const without = (list: readonly Kept[], rule: string): readonly Kept[] => list.filter((each) => each.rule !== rule);

const fold = (state: SessionState, change: Change): SessionState => {
  if ('add' in change) return { ...state, kept: added(state.kept, change.add) };
  return 'revoke' in change ? { ...state, kept: without(state.kept, change.revoke) } : { ...state, mode: change.mode };
};

type GrantScope = Pick<Scope<unknown, Capability>, 'config' | 'state' | 'storage'>;
type Place = 'project' | 'user';

export class Grants implements GrantsService {
  readonly #scope: GrantScope;
  readonly #configured: readonly Rule[];
  readonly #session: { readonly value: SessionState; record(change: Change): Promise<void> };
  /** Recorded, but not yet folded into the state: the next call must see them. */
  #pending: readonly Change[] = [];
  #stored: Readonly<Record<Place, readonly Kept[]>> = { project: [], user: [] };
  #reading: Promise<void> | undefined;

  /** Throws CONFIG_INVALID for a rule of the configuration that cannot be read. */
  constructor(scope: GrantScope) {
    this.#scope = scope;
    this.#configured = configuredRules(scope.config);
    this.#session = scope.state<SessionState, typeof CHANGE>({ name: 'grants', data: CHANGE, initial: { kept: [] }, fold, ofRoot: true });
  }

  /** Reads what is kept on disk, once. */
  ready(): Promise<void> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  get mode(): Mode {
    return this.#state.mode ?? this.#scope.config.value.permissions?.mode ?? 'default';
  }
  rules(): readonly Rule[] {
    const kept = (from: Grant['from'], list: readonly Kept[]): readonly Rule[] => list.flatMap((each) => ruleOf(each, from));
    return [...this.#configured, ...kept('session', this.#state.kept), ...kept('project', this.#stored.project), ...kept('user', this.#stored.user)];
  }
  list(): readonly Grant[] {
    return this.rules().map(({ text, decision, from }) => ({ rule: text, decision, from }));
  }

  async add({ rule, decision, from }: Grant): Promise<void> {
    const problem = parseRule(rule);
    if (typeof problem === 'string') throw new CastError('CLI_USAGE', `${JSON.stringify(rule)} is no rule: ${problem}`);
    await this.#keep(from, { rule, decision });
  }
  /** A person's yes that is to be remembered, given while the session stood in `folder`. */
  async remember(rules: readonly string[], from: 'session' | 'project', folder: string): Promise<void> {
    for (const rule of rules) {
      const parsed = parseRule(rule);
      // A command does something else in another folder; a path or a domain does not.
      const isCommand = typeof parsed !== 'string' && parsed.tool === 'bash';
      await this.#keep(from, { rule, decision: 'allow', ...(isCommand ? { folder } : {}) });
    }
  }
  /** False when no such rule is kept; rules of the configuration stay. */
  async revoke(rule: string): Promise<boolean> {
    await this.ready();
    const isHeld = (list: readonly Kept[]): boolean => list.some((each) => each.rule === rule);
    const places = (['project', 'user'] as const).filter((place) => isHeld(this.#stored[place]));
    const inSession = isHeld(this.#state.kept);
    if (inSession) await this.#record({ revoke: rule });
    for (const place of places) await this.#store(place, (list) => without(list, rule));
    return inSession || places.length > 0;
  }
  async setMode(mode: Mode): Promise<void> {
    await this.#record({ mode });
  }
  /** Whether each of these rules was given by a person, word for word, for this folder. */
  hold(rules: readonly string[], folder: string): boolean {
    const given = this.rules().filter((rule) => rule.decision === 'allow' && (rule.folder === undefined || rule.folder === folder));
    return rules.length > 0 && rules.every((rule) => given.some((each) => each.text === rule));
  }

  get #state(): SessionState {
    return this.#pending.reduce(fold, this.#session.value);
  }
  async #keep(from: Grant['from'], kept: Kept): Promise<void> {
    if (from === 'session') return this.#record({ add: kept });
    if (from === 'project' || from === 'user') return this.#store(from, (list) => added(list, kept));
    throw new CastError('CLI_USAGE', `a rule cannot be added to ${from} while cast runs`, { fix: 'Add it to `permissions` in the configuration.' });
  }
  async #record(change: Change): Promise<void> {
    this.#pending = [...this.#pending, change];
    try {
      await this.#session.record(change);
    } finally {
      this.#pending = this.#pending.filter((each) => each !== change);
    }
  }
  async #store(place: Place, alter: (list: readonly Kept[]) => readonly Kept[]): Promise<void> {
    this.#stored = { ...this.#stored, [place]: alter(this.#stored[place]) };
    // Another process may have added to it since.
    const current = (await this.#scope.storage[place].get('grants', LIST)) ?? [];
    const next = alter(current);
    this.#stored = { ...this.#stored, [place]: next };
    await this.#scope.storage[place].set('grants', next);
  }
  async #read(): Promise<void> {
    const { project, user } = this.#scope.storage;
    this.#stored = { project: (await project.get('grants', LIST)) ?? [], user: (await user.get('grants', LIST)) ?? [] };
  }
}

const ruleOf = (kept: Kept, from: Grant['from']): readonly Rule[] => {
  const parsed = parseRule(kept.rule);
  if (typeof parsed === 'string') return [];
  return [{ ...parsed, text: kept.rule, decision: kept.decision, from, ...(kept.folder === undefined ? {} : { folder: kept.folder }) }];
};
