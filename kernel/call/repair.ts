/** Mends JSON of a model where there is no doubt about what it says. Quotes, commas and brackets are never guessed. */
import { depthBy, partsOf } from './json-parts.ts';

const NAMES: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };
/** Those behind a backslash are part of an escape, and stay as they are. */
const CONTROLS = /\\[^]|[^\P{Cc}\u007f-\u009f]/gu;
const escaped = (char: string): string => NAMES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The first complete object of a text, with the control characters inside its texts escaped; undefined where no object begins or ends. */
export const repairObject = (raw: string): string | undefined => {
  const text = raw.trimStart();
  if (!text.startsWith('{')) return undefined;
  let mended = '';
  let depth = 0;
  for (const part of partsOf(text)) {
    mended += part.startsWith('"') ? part.replace(CONTROLS, (found) => (found.length > 1 ? found : escaped(found))) : part;
    depth += depthBy(part);
    if (depth === 0) return mended;
  }
  return undefined;
};
