/** JSON of a model, piece by piece, whether or not it can be read. Without a pattern for whole texts: one of millions of escapes is too much for it. */

/** A text with its quotes, or from its first quote to the end when it never ends; a bracket; what stands between such. */
export function* partsOf(json: string): Generator<string> {
  for (let at = 0; at < json.length; ) {
    const end = endOf(json, at);
    yield json.slice(at, end);
    at = end;
  }
}

const SPECIAL = /["{}[\]]/g;
const endOf = (json: string, at: number): number => {
  if (json[at] === '"') return endOfText(json, at);
  SPECIAL.lastIndex = at;
  const next = SPECIAL.exec(json)?.index ?? json.length;
  return next === at ? at + 1 : next;
};

const endOfText = (json: string, start: number): number => {
  for (let quote = json.indexOf('"', start + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) if (!isEscaped(json, quote)) return quote + 1;
  return json.length;
};
const isEscaped = (json: string, at: number): boolean => {
  let first = at;
  while (json[first - 1] === '\\') first -= 1;
  return (at - first) % 2 === 1;
};

/** How deep a bracket leads in or out; 0 for what is none. */
export const depthBy = (part: string): number => (part === '{' || part === '[' ? 1 : part === '}' || part === ']' ? -1 : 0);
/** Whether a part is a text without an end. */
export const isOpenText = (part: string): boolean => part.startsWith('"') && (part.length === 1 || !part.endsWith('"') || isEscaped(part, part.length - 1));
