/** What `cast config` and `cast doctor` show of values that may open something. */
import { expect, test } from 'vitest';
import { shownAddress, shownValue } from '../../cli/hidden.ts';

test.each<[string, unknown, unknown]>([
  ['providers.a.headers.x-auth', 'v', '(hidden)'],
  ['providers.a.apiKey', 'v', '(hidden)'],
  ['providers.a.apiKey', 12_345_678, '(hidden)'],
  ['apiKey', ['v'], '(hidden)'],
  ['serverToken', 'v', '(hidden)'],
  ['plugins.web.braveApiKey', 'v', '(hidden)'],
  ['plugins.web.braveApiKey', '', ''],
  ['providers.a.key', 'CAST_API_KEY', 'CAST_API_KEY'],
  ['limits.maxTokens', 5, 5],
  ['providers.a.baseUrl', 'http://h/v1', 'http://h/v1'],
  ['providers.a.baseUrl', 'http://me:word@h:1/v1?api-version=2&api_key=k#x', 'http://(hidden)@h:1/v1?api-version=2&api_key=(hidden)#x'],
])('%s = %j is shown as %j', (key, value, shown) => expect(shownValue(key, value)).toEqual(shown));

test.each([
  ['no address', 'no address'],
  ['https://h/a@b', 'https://h/a@b'],
  ['https://word@h', 'https://(hidden)@h'],
  ['https://h/?token=', 'https://h/?token='],
])('the address %s is shown as %s', (text, shown) => expect(shownAddress(text)).toBe(shown));
