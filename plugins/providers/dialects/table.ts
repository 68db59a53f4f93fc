/** How each dialect spells reasoning in Chat Completions. Facts only: `dialect.ts` chooses among them. */
import type { HostPattern } from './hosts.ts';
import type { DialectName } from './names.ts';

/** Fields of the body. */
type Fields = Readonly<Record<string, unknown>>;

export interface Row {
  /** `level` is `on` or a name of the provider's own. */
  readonly on: (level: string, model: string) => Fields;
  readonly off: (model: string) => Fields;
  /** What can be chosen for a model of which nothing is known, the least first. Without `off`: it always reasons. */
  readonly levels: readonly string[];
  /** What `max` means. */
  readonly top: string;
  /** It is asked to keep the reasoning of all earlier replies, so it gets back that of replies without calls as well. */
  readonly keepsReasoning?: true;
}

const EFFORTS = ['off', 'low', 'medium', 'high', 'max'];
const SWITCH = ['off', 'on'];

const effort = (level: string, whenOn: string): Fields => ({ reasoning_effort: level === 'on' ? whenOn : level });
/** For those that can be turned on without an effort. */
const ownEffort = (level: string): Fields => (level === 'on' ? {} : { reasoning_effort: level });
const thinking = (type: string, more: Fields = {}): Fields => ({ thinking: { type, ...more } });

/** Of the models at this host those that are turned on as at home. */
const QIANFAN_THINKING = /deepseek-v(4|3\.2)|kimi-k2\.5|glm-5/i;
const qianfan = (model: string, isOn: boolean): Fields => (QIANFAN_THINKING.test(model) ? thinking(isOn ? 'enabled' : 'disabled') : { enable_thinking: isOn });

export const TABLE: Readonly<Record<DialectName, Row>> = {
  openrouter: {
    on: (level) => ({ reasoning: level === 'on' ? { enabled: true } : { effort: level } }),
    off: () => ({ reasoning: { enabled: false } }),
    levels: EFFORTS,
    top: 'xhigh',
  },
  openai: {
    on: (level) => effort(level, 'medium'),
    off: () => ({ reasoning_effort: 'none' }),
    levels: EFFORTS,
    top: 'high',
  },
  'openai-compatible': {
    on: (level) => effort(level, 'medium'),
    off: () => ({ reasoning_effort: 'none' }),
    levels: EFFORTS,
    top: 'high',
  },
  generic: {
    on: (level) => effort(level, 'medium'),
    off: () => ({}),
    levels: EFFORTS,
    top: 'high',
  },
  deepseek: {
    on: (level) => ({ ...thinking('enabled'), ...ownEffort(level) }),
    off: () => thinking('disabled'),
    levels: EFFORTS,
    top: 'max',
  },
  kimi: {
    on: (level) => ({ ...thinking('enabled', { keep: 'all' }), ...ownEffort(level) }),
    off: () => thinking('disabled'),
    levels: EFFORTS,
    top: 'max',
    keepsReasoning: true,
  },
  qianfan: {
    on: (_level, model) => qianfan(model, true),
    off: (model) => qianfan(model, false),
    levels: SWITCH,
    top: 'on',
  },
  qwen: {
    on: (level) => ({ enable_thinking: true, ...ownEffort(level) }),
    off: () => ({ enable_thinking: false }),
    levels: EFFORTS,
    top: 'high',
  },
  together: {
    on: (level) => ({ reasoning: { enabled: true }, ...ownEffort(level) }),
    off: () => ({ reasoning: { enabled: false } }),
    levels: EFFORTS,
    top: 'high',
  },
  xai: {
    on: (level) => effort(level, 'high'),
    off: () => ({}),
    levels: ['low', 'medium', 'high'],
    top: 'high',
  },
  zai: {
    on: () => thinking('enabled', { clear_thinking: false }),
    off: () => thinking('disabled'),
    levels: SWITCH,
    top: 'on',
    keepsReasoning: true,
  },
  huawei: {
    on: () => ({ chat_template_kwargs: { enable_thinking: true } }),
    off: () => ({ chat_template_kwargs: { enable_thinking: false } }),
    levels: SWITCH,
    top: 'on',
  },
  minimax: {
    on: (level) => ({ reasoning_split: true, ...(level === 'adaptive' ? thinking('adaptive') : {}) }),
    off: () => thinking('disabled'),
    levels: ['off', 'on', 'adaptive'],
    top: 'on',
  },
};

export interface Sign extends HostPattern {
  readonly dialect: DialectName;
  /** Ids of models that make any host speak it. */
  readonly models?: RegExp;
}

/** The first that fits decides: models are found at the hosts of others, so the order counts. */
export const SIGNS: readonly Sign[] = [
  { dialect: 'openrouter', words: ['openrouter'] },
  { dialect: 'deepseek', words: ['xiaomimimo'] },
  { dialect: 'minimax', words: ['minimax', 'minimaxi'], models: /minimax/i },
  { dialect: 'kimi', words: ['moonshot'], domains: ['kimi.com'] },
  { dialect: 'deepseek', words: ['deepseek'] },
  { dialect: 'qianfan', words: ['qianfan', 'baidubce', 'baidu'] },
  { dialect: 'qwen', words: ['dashscope', 'alibaba', 'alibabacloud'] },
  { dialect: 'together', words: ['together'] },
  { dialect: 'xai', domains: ['x.ai'] },
  { dialect: 'zai', words: ['bigmodel'], domains: ['z.ai'] },
  { dialect: 'deepseek', words: ['volces', 'volcengine', 'volcengineapi'] },
  { dialect: 'huawei', words: ['huaweicloud', 'myhuaweicloud'] },
  { dialect: 'openai-compatible', domains: ['opencode.ai'], path: '/zen' },
];
