/** What a provider's error says, whatever its shape: JSON in a dozen forms, HTML, plain text or nothing. */
import { type Fields, fieldsOf, isFields, listOf, parseJson, textOf } from '../values.ts';

export interface ErrorBody {
  /** In the provider's words, on one line; empty when it says nothing. */
  readonly said: string;
  /** Codes and types, lower case, separated by spaces. */
  readonly codes: string;
  /** The HTTP status that the body names itself. */
  readonly status: number | undefined;
  readonly param: string | undefined;
  readonly parsed: unknown;
}

const MAX_SAID = 1500;

export const readErrorBody = (body: unknown): ErrorBody => {
  const parsed = typeof body === 'string' ? (parseJson(body) ?? body) : body;
  const top: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  if (!isFields(top)) return { said: oneLine(typeof top === 'string' ? withoutHtml(top) : ''), codes: '', status: undefined, param: undefined, parsed };
  const inner = isFields(top['error']) ? top['error'] : {};
  const base = fieldsOf(top, 'base_resp');
  const values = [inner, top, fieldsOf(inner, 'metadata')].flatMap((each) => ['code', 'type', 'error_type', 'status'].map((name) => each[name]));
  return {
    said: oneLine(sayings(top, inner, base).join(': ')),
    codes: [...values, base['status_code']]
      .filter((value) => typeof value === 'string' || typeof value === 'number')
      .join(' ')
      .toLowerCase(),
    status: [inner, top]
      .flatMap((each) => [each['status_code'], each['http_code'], each['code'], each['status']])
      .map(asStatus)
      .find(Boolean),
    param: textOf(inner['param']) ?? textOf(top['param']),
    parsed,
  };
};

const asStatus = (value: unknown): number | undefined => {
  const status = typeof value === 'string' || typeof value === 'number' ? Number(value) : 0;
  return status >= 400 && status <= 599 ? status : undefined;
};

/** Without repetitions, the outer one first. */
const sayings = (top: Fields, inner: Fields, base: Fields): readonly string[] => {
  const raw = fieldsOf(inner, 'metadata')['raw'];
  const upstream = typeof raw === 'string' ? (parseJson(raw) ?? raw) : raw;
  const texts = [
    wording(inner['message']),
    wording(top['error']),
    wording(top['message']),
    wording(top['detail']),
    wording(base['status_msg']),
    nested(upstream),
  ];
  return [...new Set(texts.filter((text) => text !== ''))];
};
const nested = (upstream: unknown): string => (isFields(upstream) ? readErrorBody(upstream).said : wording(upstream));

/** A text, a list of `{ loc, msg }`, or an object that holds one of them. */
const wording = (value: unknown): string => {
  if (typeof value === 'string') return withoutHtml(value);
  if (Array.isArray(value)) return listOf(value).map(issue).filter(Boolean).join('; ');
  return isFields(value) ? wording(value['detail'] ?? value['msg'] ?? value['message']) : '';
};
const issue = (value: unknown): string => {
  if (!isFields(value)) return wording(value);
  const place = listOf(value['loc']).join('.');
  const text = textOf(value['msg']) ?? '';
  return place === '' ? text : `${place}: ${text}`;
};

/** Of a page its title and heading are enough. */
const withoutHtml = (text: string): string => {
  if (!/<(!doctype|html|head|body|title|h1)\b/i.test(text)) return text;
  const parts = [/<title[^>]*>([^<]*)/i, /<h1[^>]*>([^<]*)/i].map((pattern) => pattern.exec(text)?.[1]?.trim() ?? '');
  return [...new Set(parts.filter(Boolean))].join(': ') || 'an HTML page';
};

const oneLine = (text: string): string => {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID)}…` : line;
};
