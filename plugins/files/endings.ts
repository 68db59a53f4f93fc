import { alignLines } from './align.ts';

/** A text with its line endings put aside, so that it can be searched with plain LF and changed without touching the rest. */
export interface Lined {
  readonly raw: string;
  /** `raw` with LF for CRLF. A lone CR stays. */
  readonly text: string;
  /** Positions in `text` of the line feeds that are CRLF in `raw`, ascending. */
  readonly crlf: readonly number[];
  /** CRLF when most lines end so. */
  readonly dominant: '\n' | '\r\n';
  readonly isMixed: boolean;
}

export const toLf = (text: string): string => text.replaceAll('\r\n', '\n');
/** The same for text of the model, whose carriage returns double now and then. Tried once a run: from each of its characters takes minutes. */
export const plainFeeds = (text: string): string => text.replace(/(?<!\r)\r+\n/g, '\n');

export const lined = (raw: string): Lined => {
  const text = toLf(raw);
  const crlf: number[] = [];
  for (let at = raw.indexOf('\r\n'); at >= 0; at = raw.indexOf('\r\n', at + 2)) crlf.push(at - crlf.length);
  const feeds = countOf(text, '\n');
  return { raw, text, crlf, dominant: crlf.length * 2 > feeds ? '\r\n' : '\n', isMixed: crlf.length > 0 && crlf.length < feeds };
};

/** How the lines of a text end; undefined when it has only one. */
export const endingsOf = (raw: string): 'LF' | 'CRLF' | 'mixed' | undefined => {
  const [feeds, crlf] = [countOf(raw, '\n'), countOf(raw, '\r\n')];
  if (feeds === 0) return undefined;
  if (crlf === 0) return 'LF';
  return crlf === feeds ? 'CRLF' : 'mixed';
};

export const countOf = (text: string, part: string): number => {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
};

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Puts texts (with LF) in the place of spans of `text`, which come in order. Returns the new raw text; outside the spans nothing changes. */
export const replaceSpans = (file: Lined, changes: readonly { readonly span: Span; readonly text: string }[]): string => {
  let at = 0;
  const pieces = changes.flatMap(({ span, text }) => {
    const start = rawIndex(file, span.start);
    const end = rawIndex(file, span.end);
    const before = file.raw.slice(at, start);
    at = end;
    return [before, withEndings(file, file.raw.slice(start, end), text)];
  });
  return pieces.join('') + file.raw.slice(at);
};

const rawIndex = ({ crlf }: Lined, index: number): number => {
  let low = 0;
  let high = crlf.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((crlf[middle] ?? Infinity) < index) low = middle + 1;
    else high = middle;
  }
  return index + low;
};

const withEndings = (file: Lined, before: string, replacement: string): string => {
  if (file.crlf.length === 0) return replacement;
  if (!file.isMixed) return replacement.replaceAll('\n', '\r\n');
  // Lines that go on keep the ending they had.
  const old = before.split('\n');
  const lines = replacement.split('\n');
  const ancestors = alignLines(
    old.map((line) => line.replace(/\r$/, '')),
    lines,
  );
  return lines.reduce((text, line, index) => {
    if (index === lines.length - 1) return text + line;
    const at = ancestors[index]?.at;
    // The last piece of the old text has no ending of its own.
    const ending = at === undefined || at >= old.length - 1 ? file.dominant : old[at]?.endsWith('\r') ? '\r\n' : '\n';
    return text + line + ending;
  }, '');
};
