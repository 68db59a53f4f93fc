/** Mends JSON of a model where there is no doubt about what it says. Quotes, commas and brackets are never guessed. */

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
const escaped = (char: string): string => NAMES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The first complete object of a text, with the control characters inside its texts escaped; undefined where no object begins or ends. */
export const repairObject = (raw: string): string | undefined => {
  const start = raw.search(/\S/);
  if (raw[start] !== '{') return undefined;
  let mended = '';
  let depth = 0;
  let isText = false;
  for (let index = start; index < raw.length; index++) {
    const char = raw.charAt(index);
    if (isText && char === '\\') {
      // Whatever follows is part of the escape, a quote as well.
      mended += char + raw.charAt(++index);
      continue;
    }
    if (char === '"') isText = !isText;
    else if (!isText && (char === '{' || char === '[')) depth++;
    else if (!isText && (char === '}' || char === ']')) depth--;
    mended += isText && char < ' ' ? escaped(char) : char;
    if (depth === 0) return mended;
  }
  return undefined;
};
