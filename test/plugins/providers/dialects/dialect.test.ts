import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { CastConfig, ConfigView, ModelInfo } from '../../../../kernel/index.ts';
import { dialectOf, reasoningFields } from '../../../../plugins/providers/dialects/dialect.ts';
import { levelFor } from '../../../../plugins/providers/dialects/levels.ts';
import { checkDialects, DIALECT_NAMES } from '../../../../plugins/providers/dialects/names.ts';
import { SIGNS, TABLE } from '../../../../plugins/providers/dialects/table.ts';

const nameOf = (baseUrl: string, model = 'm', setting?: string): string => dialectOf(baseUrl, model, setting).name;

describe('which dialect a host speaks', () => {
  test.each([
    ['https://openrouter.ai/api/v1', 'openrouter'],
    ['https://eu.openrouter.ai/api/v1', 'openrouter'],
    ['https://api.xiaomimimo.com/v1', 'deepseek'],
    ['https://api.deepseek.com', 'deepseek'],
    ['https://ark.cn-beijing.volces.com/api/v3', 'deepseek'],
    ['https://api.moonshot.ai/v1', 'kimi'],
    ['https://api.kimi.com/coding/v1', 'kimi'],
    ['https://qianfan.baidubce.com/v2', 'qianfan'],
    ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', 'qwen'],
    ['https://DASHSCOPE.aliyuncs.com/compatible-mode/v1', 'qwen'],
    ['https://api.together.xyz/v1', 'together'],
    ['https://api.x.ai/v1', 'xai'],
    ['https://us-east-1.api.x.ai/v1', 'xai'],
    ['https://api.z.ai/api/paas/v4', 'zai'],
    ['https://open.bigmodel.cn/api/paas/v4', 'zai'],
    ['https://maas.cn-north-4.myhuaweicloud.com/v1', 'huawei'],
    ['https://api.minimax.io/v1', 'minimax'],
    ['https://api.minimaxi.com/v1', 'minimax'],
    ['https://opencode.ai/zen/v1', 'openai-compatible'],
    ['https://opencode.ai/zenith/v1', 'generic'],
    ['https://opencode.ai/v1', 'generic'],
    ['https://api.openai.com/v1', 'generic'],
    ['http://127.0.0.1:8080/v1', 'generic'],
    // What only looks alike.
    ['https://notopenrouter.example/v1', 'generic'],
    ['https://gateway.example/openrouter/v1', 'generic'],
    ['https://gateway.example/v1?to=openrouter.ai', 'generic'],
    ['https://openrouter.ai@gateway.example/v1', 'generic'],
    ['https://ex.ai/v1', 'generic'],
    ['https://x.ai.example/v1', 'generic'],
    ['https://fizz.ai/v1', 'generic'],
    ['https://deepseeker.example/v1', 'generic'],
  ])('%s: %s', (baseUrl, expected) => {
    expect(nameOf(baseUrl)).toBe(expected);
  });

  test('a model may tell, but at hosts that come before it', () => {
    expect(nameOf('https://api.example.test/v1', 'MiniMax-M2')).toBe('minimax');
    expect(nameOf('https://api.together.xyz/v1', 'MiniMaxAI/MiniMax-M2')).toBe('minimax');
    expect(nameOf('https://openrouter.ai/api/v1', 'minimax/minimax-m2')).toBe('openrouter');
  });

  test('the setting decides, unless it is auto', () => {
    expect(nameOf('https://openrouter.ai/api/v1', 'm', 'generic')).toBe('generic');
    expect(nameOf('https://api.example.test/v1', 'minimax', 'openai')).toBe('openai');
    expect(nameOf('https://api.deepseek.com', 'm', 'auto')).toBe('deepseek');
  });
});

describe('what else the host tells', () => {
  test.each<[string, string | undefined, object]>([
    ['https://api.openai.com/v1', undefined, { limitField: 'max_completion_tokens', cache: 'key', shortIds: false }],
    ['https://eu.api.openai.com/v1', undefined, { limitField: 'max_completion_tokens', cache: 'key' }],
    ['https://api.openai.com.example/v1', undefined, { limitField: 'max_tokens', cache: 'none' }],
    ['https://mine.openai.azure.com/openai/v1', undefined, { limitField: 'max_completion_tokens', cache: 'none' }],
    ['https://mine.services.ai.azure.com/openai/v1', undefined, { limitField: 'max_completion_tokens' }],
    ['https://api.example.test/v1', 'openai', { limitField: 'max_completion_tokens', cache: 'none' }],
    ['https://api.example.test/v1', 'openrouter', { limitField: 'max_tokens', cache: 'marks' }],
    ['https://openrouter.ai/api/v1', 'generic', { cache: 'none' }],
    ['https://api.mistral.ai/v1', undefined, { shortIds: true, limitField: 'max_tokens' }],
  ])('%s, set to %s', (baseUrl, setting, expected) => {
    expect(dialectOf(baseUrl, 'm', setting)).toMatchObject(expected);
  });
});

describe('levels', () => {
  const generic = { levels: TABLE.generic.levels, top: 'high' };
  const onlySwitch = { levels: ['off', 'on'], top: 'on' };
  type Known = ModelInfo['reasoning'];
  const all: Known = { levels: ['off', 'low', 'medium', 'xhigh'], default: 'medium' };
  test.each<[string | undefined, Known, typeof generic, string | undefined]>([
    [undefined, undefined, generic, undefined],
    [undefined, all, generic, undefined],
    ['medium', undefined, generic, 'medium'],
    ['max', undefined, generic, 'high'],
    ['minimal', undefined, generic, 'minimal'],
    ['off', undefined, generic, 'off'],
    ['high', undefined, onlySwitch, 'on'],
    ['max', undefined, onlySwitch, 'on'],
    ['off', undefined, { levels: ['low', 'high'], top: 'high' }, undefined],
    ['max', all, generic, 'xhigh'],
    ['high', all, generic, 'medium'],
    ['off', all, generic, 'off'],
    ['off', { levels: ['low', 'high'], default: 'low' }, generic, 'low'],
    ['off', { levels: ['low', 'high'] }, generic, undefined],
    ['max', { levels: ['high', 'max'] }, generic, 'max'],
    ['high', { levels: ['off', 'on'], default: 'off' }, generic, 'on'],
    ['high', { levels: [] }, generic, undefined],
    ['off', { levels: [] }, generic, undefined],
  ])('%s, known %j, dialect %j: %s', (wanted, known, dialect, expected) => {
    expect(levelFor(wanted, known, dialect)).toBe(expected);
  });
});

describe('how reasoning is spelt', () => {
  const spelt = (name: string, level: string | undefined, model = 'm'): string =>
    JSON.stringify(reasoningFields(dialectOf('https://api.example.test/v1', model, name), level, model));

  test('nothing is said where nothing is set', () => {
    for (const name of DIALECT_NAMES) expect(spelt(name, undefined)).toBe('{}');
  });

  test.each([
    ['openrouter', 'on', '{"reasoning":{"enabled":true}}'],
    ['openrouter', 'max', '{"reasoning":{"effort":"xhigh"}}'],
    ['openai', 'on', '{"reasoning_effort":"medium"}'],
    ['generic', 'on', '{"reasoning_effort":"medium"}'],
    ['generic', 'xhigh', '{"reasoning_effort":"xhigh"}'],
    ['xai', 'on', '{"reasoning_effort":"high"}'],
    ['deepseek', 'on', '{"thinking":{"type":"enabled"}}'],
    ['deepseek', 'max', '{"thinking":{"type":"enabled"},"reasoning_effort":"max"}'],
    ['minimax', 'adaptive', '{"reasoning_split":true,"thinking":{"type":"adaptive"}}'],
  ])('%s, %s', (name, level, expected) => {
    expect(spelt(name, level)).toBe(expected);
  });

  test('models that are turned on as at home', () => {
    for (const model of ['deepseek-v4-pro', 'deepseek-v3.2', 'kimi-k2.5', 'glm-5']) {
      expect(spelt('qianfan', 'high', model)).toBe('{"thinking":{"type":"enabled"}}');
      expect(spelt('qianfan', 'off', model)).toBe('{"thinking":{"type":"disabled"}}');
    }
  });

  test('what is known of the model decides about the level', () => {
    const dialect = dialectOf('https://api.example.test/v1', 'm', 'deepseek');
    expect(reasoningFields(dialect, 'max', 'm', { levels: ['low', 'high'] })).toEqual({ thinking: { type: 'enabled' }, reasoning_effort: 'high' });
    expect(reasoningFields(dialect, 'high', 'm', { levels: [] })).toEqual({});
  });

  /** The table for people: each cell in backquotes. */
  test('the page about the plugin says the same', () => {
    const page = readFileSync(new URL('../../../../docs/plugins/providers.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| `([^`]+)` \| ([^|]+) \| `([^`]+)` \| `([^`]+)` \| ([^|]+) \|$/gm)];
    const written = rows.map(([, name, hosts, on, off, levels]) => ({ name, hosts: hosts?.trim(), on, off, levels: levels?.trim() }));
    const said = DIALECT_NAMES.map((name) => {
      const signs = SIGNS.filter((sign) => sign.dialect === name);
      const hosts = signs.flatMap(({ words = [], domains = [], path = '' }) => [...words, ...domains.map((domain) => `${domain}${path}`)]);
      return {
        name,
        hosts: hosts.length > 0 ? hosts.map((host) => `\`${host}\``).join(', ') : name === 'generic' ? 'all others' : 'by setting only',
        on: spelt(name, 'high'),
        off: spelt(name, 'off'),
        levels: TABLE[name].levels.join(', '),
      };
    });
    expect(written).toEqual(said);
  });
});

describe('the configuration', () => {
  const view = (providers: CastConfig['providers'], file?: string): ConfigView =>
    ({ value: { providers }, origin: () => ({ layer: 'user', ...(file === undefined ? {} : { file }) }) }) as never;

  test('names of dialects, auto and nothing are fine', () => {
    expect(() => checkDialects(view({ a: { dialect: 'kimi' }, b: { dialect: 'auto' }, c: {} }))).not.toThrow();
  });

  test('any other is an error that names the known ones', () => {
    const check = (): void => checkDialects(view({ mine: { dialect: 'kimmi' } }, '/x/settings.json'));
    expect(check).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'providers.mine.dialect: there is no dialect "kimmi" (/x/settings.json)',
        fix: expect.stringMatching(/auto.*openrouter.*minimax/),
      }),
    );
  });
});
