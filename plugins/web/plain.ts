/** The text of HTML in one pass: without a tree and without recursion, so that no page is too much for it. */
import { decodeEntities } from './entities.ts';
import { type Tag, Tags } from './tags.ts';

/** Elements that hold nothing to read. */
const SKIPPED = new Set(['script', 'style', 'noscript', 'title', 'template', 'svg', 'iframe', 'object', 'nav', 'footer', 'select', 'button']);
/** Where one of these does not end, the rest of the page is its content; any other is taken for a stray tag. */
const RAW = new Set(['script', 'style']);
const BLOCKS = new Set(
  (
    'address article aside body br caption dd details dialog div dl dt fieldset figcaption figure form header hgroup hr html legend li main ' +
    'menu optgroup option section summary tbody tfoot thead tr'
  ).split(' '),
);
/** With an empty line around them. */
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'ul', 'ol', 'blockquote']);

export interface PlainPage {
  readonly title: string;
  readonly text: string;
}

export const plainText = (html: string): PlainPage => {
  const lines = new Lines();
  const tags = new Tags(html);
  let title = '';
  let textFrom = 0;
  for (let at = 0; at < html.length; ) {
    const open = tags.next(at);
    const tag = tags.at(open);
    // A bracket that is only a character, or none at the end.
    at = tag ? endOf(tag, tags) : open + 1;
    if (!tag) continue;
    if (open > textFrom) lines.add(html.slice(textFrom, open));
    if (tag.name === 'title') title ||= decodeEntities(html.slice(tag.end, at)).replace(/\s+/g, ' ').trim();
    lines.mark(tag);
    textFrom = at;
  }
  if (textFrom < html.length) lines.add(html.slice(textFrom));
  return { title, text: lines.text() };
};

/** Of a tag, or of all that belongs to it where none of that is to be read. */
const endOf = ({ name, isClosing, end }: Tag, tags: Tags): number => {
  if (isClosing || !SKIPPED.has(name)) return end;
  return tags.closing(name, end) ?? (RAW.has(name) ? tags.length : end);
};

/** Collects text: white space counts once, but for preformatted text. */
class Lines {
  readonly #parts: string[] = [];
  /** How deep. */
  #preformatted = 0;
  /** What is due before the next text. */
  #breaks = 0;
  #space = false;
  #bullet = '';

  add(raw: string): void {
    const text = decodeEntities(raw);
    if (this.#preformatted > 0) return this.#push(text);
    const words = text.replace(/\s+/g, ' ');
    if (words.startsWith(' ')) this.#space = true;
    if (words.trim() === '') return;
    this.#push(words.trim());
    this.#space = words.endsWith(' ');
  }
  /** What a tag says about where texts stand. */
  mark({ name, isClosing }: Tag): void {
    if (name === 'pre') this.#preformatted = Math.max(0, this.#preformatted + (isClosing ? -1 : 1));
    if (name === 'td' || name === 'th') this.#space = true;
    if (name === 'li' && !isClosing) this.#bullet = '- ';
    const breaks = PARAGRAPHS.has(name) ? 2 : BLOCKS.has(name) ? 1 : 0;
    this.#breaks = Math.max(this.#breaks, breaks);
  }
  text(): string {
    const lines = this.#parts.join('').split('\n');
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trim();
  }

  #push(text: string): void {
    if (this.#parts.length > 0) this.#parts.push(this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space ? ' ' : '');
    this.#parts.push(this.#bullet, text);
    this.#breaks = 0;
    this.#space = false;
    this.#bullet = '';
  }
}
