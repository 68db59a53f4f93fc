/** Names of the dialects: what a configuration may set, read when a session is built, so nothing else is here. */
import { CastError, type ConfigView } from '../../../kernel/index.ts';

export const DIALECT_NAMES = [
  'openrouter',
  'openai',
  'openai-compatible',
  'generic',
  'deepseek',
  'kimi',
  'qianfan',
  'qwen',
  'together',
  'xai',
  'zai',
  'huawei',
  'minimax',
] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Set for: from the host or the model. */
export const AUTO = 'auto';

export const isDialectName = (name: string): name is DialectName => DIALECT_NAMES.some((each) => each === name);

/** Throws CONFIG_INVALID for a provider with a dialect that there is not. */
export const checkDialects = (config: ConfigView): void => {
  for (const [provider, { dialect }] of Object.entries(config.value.providers ?? {})) {
    if (dialect === undefined || dialect === AUTO || isDialectName(dialect)) continue;
    const key = `providers.${provider}.dialect`;
    const origin = config.origin(key);
    throw new CastError('CONFIG_INVALID', `${key}: there is no dialect "${dialect}"${origin ? ` (${origin.file ?? origin.layer})` : ''}`, {
      fix: `Set it to ${AUTO} or one of ${DIALECT_NAMES.join(', ')}.`,
    });
  }
};
