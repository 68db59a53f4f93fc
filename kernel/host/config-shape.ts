/** The known shape of a configuration: wrong types are errors, unknown keys are warnings. */
import { CastError } from '../errors.ts';
import type { Origin } from '../contracts/config.ts';
import { suggestion } from '../nearest.ts';

interface Findings {
  readonly origin: Origin;
  readonly warnings: string[];
}
type Check = (value: unknown, key: string, findings: Findings) => void;

/** Keys of surfaces, kept in `settings.json` beside the ones every part of cast knows. */
const SURFACE_KEYS = ['$schema', 'theme', 'keys', 'vim', 'statusLine', 'updatedAt'] as const;

/** `user, /home/me/.cast/cast.config.ts`, as it stands in messages. */
export const describeOrigin = (origin: Origin): string => (origin.file === undefined ? origin.layer : `${origin.layer}, ${origin.file}`);

/** Throws CONFIG_INVALID for a known key with the wrong type; returns warnings about unknown keys. */
export const checkConfig = (data: unknown, origin: Origin): { readonly warnings: readonly string[] } => {
  const findings: Findings = { origin, warnings: [] };
  if (!isRecord(data)) throw wrong('the configuration', 'an object', data, origin);
  checkKeys(data, '', SHAPE, findings, SURFACE_KEYS);
  return { warnings: findings.warnings };
};

const wrong = (key: string, expected: string, got: unknown, origin: Origin): CastError =>
  new CastError('CONFIG_INVALID', `${key} must be ${expected}, got ${describe(got)} (${describeOrigin(origin)})`, {
    fix: `Correct ${key}${origin.file === undefined ? '' : ` in ${origin.file}`}.`,
  });

const describe = (value: unknown): string => {
  if (typeof value === 'string') return `"${value.length > 60 ? `${value.slice(0, 60)}…` : value}"`;
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const fits =
  (expected: string, test: (value: unknown) => boolean): Check =>
  (value, key, { origin }) => {
    if (!test(value)) throw wrong(key, expected, value, origin);
  };
const isText = (value: unknown): value is string => typeof value === 'string';
const isPositive = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value > 0;

const aText = fits('a text', isText);
const texts = fits('a list of texts', (value) => Array.isArray(value) && value.every(isText));
const aCount = fits('a whole number above 0', (value) => isPositive(value) && Number.isInteger(value));
const aFlag = fits('true or false', (value) => typeof value === 'boolean');
const anAmount = fits('a number of at least 0', (value) => value === 0 || isPositive(value));
const oneOf = (...words: readonly string[]): Check => fits(words.map((word) => `"${word}"`).join(' or '), (value) => isText(value) && words.includes(value));

/** An object with these keys and no others, or with any others when `extra` is `true`. */
const keyed =
  (shape: Readonly<Record<string, Check>>, extra: readonly string[] | true = []): Check =>
  (value, key, findings) => {
    if (!isRecord(value)) throw wrong(key, 'an object', value, findings.origin);
    checkKeys(value, key, shape, findings, extra);
  };
const recordOf =
  (check: Check): Check =>
  (value, key, findings) => {
    if (!isRecord(value)) throw wrong(key, 'an object', value, findings.origin);
    for (const [name, item] of Object.entries(value)) check(item, `${key}.${name}`, findings);
  };

const checkKeys = (
  value: Readonly<Record<string, unknown>>,
  path: string,
  shape: Readonly<Record<string, Check>>,
  findings: Findings,
  extra: readonly string[] | true,
): void => {
  for (const [name, item] of Object.entries(value)) {
    const key = path === '' ? name : `${path}.${name}`;
    const check = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (check && item !== undefined) check(item, key, findings);
    else if (!check && extra !== true && !extra.includes(name)) {
      findings.warnings.push(`${key} is no setting and was left out of account (${describeOrigin(findings.origin)}).${suggestion(name, Object.keys(shape))}`);
    }
  }
};

const isPluginEntry = (value: unknown): boolean =>
  typeof value === 'boolean' || isText(value) || (isRecord(value) && (value['from'] === undefined || isText(value['from'])));

/** As they are issued; whoever writes one down here would see it in messages, and would not be let in with it. */
const LIKE_A_KEY = /^(?:sk|pk|gsk|xai|pplx|hf|csk|nvapi|tgp|fw|key)[-_](?=.*\d)[\w-]{12,}$|^AIza[\w-]{20,}$|^eyJ[\w-]+\.|^(?=.*\d)[0-9a-f]{32,}$/i;
/** Empty: none is sent. */
const A_SECRET_NAME = /^(?:[A-Za-z_][\w.-]{0,199})?$/;
const aSecretName: Check = (value, key, { origin }) => {
  if (!isText(value)) throw wrong(key, 'the name of a secret', value, origin);
  if (A_SECRET_NAME.test(value) && !LIKE_A_KEY.test(value)) return;
  throw new CastError(
    'CONFIG_INVALID',
    `${key} must be the name of a secret, such as CAST_API_KEY, and seems to be the key itself (${describeOrigin(origin)})`,
    {
      fix: 'Set the key in a variable of the environment and write its name here, or save it with /provider add NAME URL KEY.',
    },
  );
};
/** Of earlier settings, where the key stood beside the address. */
const anOldKey: Check = (_, key, { origin, warnings }) => {
  warnings.push(`${key} is not read, because keys are kept apart from the settings: save it with /provider add NAME URL KEY (${describeOrigin(origin)}).`);
};

const PRICE = { in: anAmount, out: anAmount, cacheRead: anAmount, cacheWrite: anAmount };
const MODEL = {
  contextWindow: aCount,
  maxOutput: aCount,
  price: keyed(PRICE),
  reasoning: keyed({ levels: texts, default: aText }),
  images: aFlag,
};
const PROVIDER = {
  baseUrl: aText,
  api: oneOf('chat', 'responses'),
  key: aSecretName,
  apiKey: anOldKey,
  headers: recordOf(aText),
  dialect: aText,
  providerHeaders: keyed({ httpReferer: aText, xTitle: aText }),
  only: texts,
  temperature: anAmount,
  topP: anAmount,
  reasoningSummary: aText,
  reasoningMaxTokens: aCount,
  model: aText,
  reasoning: recordOf(aText),
  models: recordOf(keyed(MODEL)),
};
const SHAPE: Readonly<Record<string, Check>> = {
  model: aText,
  provider: aText,
  // Providers have settings of their own beside these.
  providers: recordOf(keyed(PROVIDER, true)),
  models: keyed({ subagent: aText, plan: aText, summary: aText, judge: aText }),
  fallback: texts,
  reasoning: aText,
  permissions: keyed({ mode: oneOf('default', 'ask', 'bypass'), allow: texts, deny: texts }),
  limits: keyed({ maxSteps: aCount, maxCost: anAmount, maxTokens: aCount, contextWindow: aCount, maxOutputTokens: aCount }),
  plugins: recordOf(fits('true, false, options, a plugin, or where to load one from', isPluginEntry)),
};
