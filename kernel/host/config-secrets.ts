/** Credentials that stand in a configuration itself: in headers and addresses of providers. */
import type { CastConfig } from '../contracts/config.ts';

/** Of headers and of what stands behind the question mark of an address. */
const SECRET_NAME = /auth|key|token|secret|cookie|passw|credential|signature|^sig$|^code$/i;
/** `Bearer x`: the scheme is no secret, what follows it is one by itself. */
const SCHEME = /^(?:bearer|basic|token|apikey|key)\s+/i;

/** Values that must never leave the process. */
export const secretsIn = ({ providers = {} }: CastConfig): readonly string[] =>
  Object.values(providers).flatMap(({ headers = {}, baseUrl }) => [
    ...Object.entries(headers).flatMap(([name, value]) => (isSecret(name, value) ? [value, value.replace(SCHEME, '')] : [])),
    ...(baseUrl !== undefined && URL.canParse(baseUrl) ? secretsOf(new URL(baseUrl)) : []),
  ]);

const secretsOf = ({ searchParams, password }: URL): readonly string[] => [
  ...[...searchParams].flatMap(([name, value]) => (isSecret(name, value) ? [value, encodeURIComponent(value)] : [])),
  ...(password === '' ? [] : [password, ...plain(password)]),
];
const plain = (encoded: string): readonly string[] => {
  try {
    return [decodeURIComponent(encoded)];
  } catch {
    return [];
  }
};

/** By its name, or because nobody writes such a thing but as a key. */
const isSecret = (name: string, value: string): boolean => SECRET_NAME.test(name) || looksRandom(value);
const looksRandom = (value: string): boolean => {
  const word = value.replace(SCHEME, '');
  return /^[\w+/=.-]{20,}$/.test(word) && /\d/.test(word) && /[a-z]/i.test(word) && !/\d{4}-\d\d-\d\d/.test(word);
};
