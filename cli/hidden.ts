/** Values of a configuration as they may be shown: without what opens anything. */

const SECRET = /(?:key|token|secret|password|authorization|cookie|signature|sig)$/i;
/** Name of a secret, never the secret; checked when the configuration is read. */
const KEY_NAME = /^providers\.[^.]*\.key$/;
const HIDDEN = '(hidden)';

/** Headers carry credentials as well. */
export const shownValue = (key: string, value: unknown): unknown => {
  if (value === '' || value === null || typeof value === 'boolean') return value;
  if (KEY_NAME.test(key)) return value;
  if (SECRET.test(key) || /\.headers\./.test(key)) return HIDDEN;
  return typeof value === 'string' ? shownAddress(value) : value;
};

/** An address may hold a password, or a key in its query. Any other text stays as it is. */
export const shownAddress = (text: string): string => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return text;
  const { username, password } = new URL(text);
  const open = username === '' && password === '' ? text : text.replace(/^(https?:\/\/)[^/?#]*@/i, `$1${HIDDEN}@`);
  return open.replace(/([?&])([^=&#]*)=([^&#]+)/g, (whole, before: string, name: string) => (SECRET.test(name) ? `${before}${name}=${HIDDEN}` : whole));
};
