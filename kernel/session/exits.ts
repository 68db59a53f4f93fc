/** The two exits of the kernel, append and emit: nothing leaves through them with a credential in it or over its size. */
import { CastError } from '../errors.ts';
import { LIMITS } from '../limits.ts';

export const REDACTED = '[redacted]';
const FAILED = '[left out: redaction failed]';

/** Shorter values are too likely to be part of ordinary text. */
const SHORTEST_SECRET = 8;

export interface Exits {
  /** The same value with every secret replaced, fit for JSON. A fault replaces the text at hand by a note, never lets it pass. */
  redact<T>(value: T): T;
  /** The same for the data of an event; each text is cut to `LIMITS.eventBytes` as well. */
  event<T>(data: T): T;
  /** What matches it is replaced from now on, until it is disposed. Throws PLUGIN_INVALID when it matches nothing at all. */
  addPattern(pattern: RegExp): Disposable;
  /** Where a secret begins of which the text has only the first part; the text's length when there is none. */
  unfinishedAt(text: string): number;
}

/** `secrets` are values that must not appear anywhere, and may become more; `patterns` come from plugins. */
export const createExits = (secrets: readonly ReadonlySet<string>[], patterns: readonly RegExp[] = []): Exits => {
  const known = new KnownSecrets(secrets);
  const own: RegExp[] = [];
  const addPattern = (pattern: RegExp): Disposable => {
    const added = everywhere(pattern);
    own.push(added);
    return { [Symbol.dispose]: () => void (own.includes(added) && own.splice(own.indexOf(added), 1)) };
  };
  for (const pattern of patterns) addPattern(pattern);
  const clean = (text: string): string => own.reduce((rest, pattern) => rest.replace(pattern, REDACTED), known.replaceIn(text));
  const capped = (text: string): string => capText(clean(text), LIMITS.eventBytes);
  return {
    redact: (value) => new Walk(clean).through(value),
    event: (data) => new Walk(capped).through(data),
    addPattern,
    unfinishedAt: (text) => known.unfinishedAt(text),
  };
};

const everywhere = (pattern: RegExp): RegExp => {
  const copy = new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '').concat('g'));
  if (copy.test('')) {
    throw new CastError('PLUGIN_INVALID', `the pattern ${String(pattern)} matches the empty text, so everything would be redacted`, {
      fix: 'Give a pattern that matches at least one character.',
    });
  }
  return copy;
};

/** Texts that are taken back out of a stream: no secret passes that is split over two pieces. Patterns see each piece alone. */
export const createStreamRedactor = (exits: Exits): { push(text: string): string; end(): string } => {
  let held = '';
  const release = (text: string): string => (text === '' ? '' : exits.redact(text));
  return {
    push: (text) => {
      const all = held + text;
      const at = exits.unfinishedAt(all);
      held = all.slice(at);
      return release(all.slice(0, at));
    },
    end: () => {
      const rest = held;
      held = '';
      return release(rest);
    },
  };
};

/** A list that grows; what is made from it is made anew when it has grown. */
class KnownSecrets {
  readonly #sources: readonly ReadonlySet<string>[];
  #size = 0;
  #values: readonly string[] = [];
  #any: RegExp | undefined;

  constructor(sources: readonly ReadonlySet<string>[]) {
    this.#sources = sources;
  }

  replaceIn(text: string): string {
    this.#refresh();
    return this.#any ? text.replace(this.#any, REDACTED) : text;
  }

  unfinishedAt(text: string): number {
    this.#refresh();
    let first = text.length;
    for (const value of this.#values) {
      // From beginning to beginning: looking at each place would cost more than all the rest of a token.
      const next = (from: number): number => text.indexOf(value.charAt(0), from);
      for (let at = next(Math.max(0, text.length - value.length + 1)); at >= 0 && at < first; at = next(at + 1))
        if (value.startsWith(text.slice(at)) && !this.#isInside(text, at)) first = at;
    }
    return first;
  }

  /** Whether a whole secret reaches over this place: parted there, neither half would be known. */
  #isInside(text: string, at: number): boolean {
    return [...text.matchAll(this.#any ?? /$^/g)].some((match) => match.index < at && at < match.index + match[0].length);
  }

  #refresh(): void {
    const size = this.#sources.reduce((sum, source) => sum + source.size, 0);
    if (size === this.#size) return;
    this.#size = size;
    // The longest first: of two that begin alike the whole one is found.
    const known = this.#sources.flatMap((source) => [...source]).map((value) => value.trim());
    this.#values = [...new Set(known.filter((value) => value.length >= SHORTEST_SECRET).flatMap(spellings))].sort((a, b) => b.length - a.length);
    this.#any = this.#values.length === 0 ? undefined : new RegExp(this.#values.map(literally).join('|'), 'g');
  }
}
/** A secret as it is used, and as it stands in base64, as far as that does not depend on what follows. */
const spellings = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  const encoded = bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
  return encoded.length < SHORTEST_SECRET ? [value] : [value, encoded];
};
const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** One value, text by text. What a plugin puts into `details` or an event may be cyclic, endless, or throw when it is read. */
class Walk {
  readonly #leaf: (text: string) => string;
  /** What became of each object; itself while it is being walked. */
  readonly #walked = new Map<object, unknown>();

  constructor(leaf: (text: string) => string) {
    this.#leaf = leaf;
  }

  through<T>(value: T): T {
    return this.#safely(value, 0) as T;
  }

  #safely(value: unknown, depth: number): unknown {
    try {
      if (typeof value === 'string') return this.#leaf(value);
      if (typeof value === 'bigint') return String(value);
      return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value) ? this.#object(value, depth) : value;
    } catch {
      // Not even its message: it may quote the text.
      return FAILED;
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth > LIMITS.exitDepth) return '[left out: nested too deeply]';
    if (this.#walked.has(value)) return this.#walked.get(value);
    this.#walked.set(value, '[circular]');
    const outcome = this.#members(value, depth + 1);
    this.#walked.set(value, outcome);
    return outcome;
  }

  /** The object itself when nothing in it had to change. */
  #members(value: object, depth: number): unknown {
    const json: unknown = 'toJSON' in value && typeof value.toJSON === 'function' ? value.toJSON() : value;
    if (json !== value) {
      const walked = this.#safely(json, depth);
      return walked === json ? value : walked;
    }
    return Array.isArray(value) ? this.#list(value, depth) : this.#record(value, depth);
  }

  #list(list: readonly unknown[], depth: number): unknown {
    const walked = list.slice(0, LIMITS.exitMembers).map((each) => this.#safely(each, depth));
    if (list.length > walked.length) return [...walked, `[left out: ${list.length - walked.length} more]`];
    return walked.every((each, i) => each === list[i]) ? list : walked;
  }

  #record(record: object, depth: number): unknown {
    const keys = Object.keys(record);
    let isSame = keys.length <= LIMITS.exitMembers;
    const walked = keys.slice(0, LIMITS.exitMembers).map((key): [string, unknown] => {
      const [name, each] = [this.#leaf(key), this.#member(record, key, depth)];
      isSame &&= name === key && each.isSame;
      return [name, each.value];
    });
    return isSame ? record : Object.fromEntries(walked);
  }

  /** A getter that throws costs its own text alone. */
  #member(record: object, key: string, depth: number): { readonly value: unknown; readonly isSame: boolean } {
    try {
      const before = (record as Record<string, unknown>)[key];
      const value = this.#safely(before, depth);
      return { value, isSame: value === before };
    } catch {
      return { value: FAILED, isSame: false };
    }
  }
}

/** Keeps beginning and end of a text that is over `bytes` UTF-8 bytes, cut between characters, and says what is missing. */
export const capText = (text: string, bytes: number): string => {
  // A UTF-16 unit is at most three bytes, so most texts need no counting.
  if (text.length * 3 <= bytes) return text;
  const buffer = Buffer.from(text, 'utf8');
  if (buffer.length <= bytes) return text;
  const half = Math.floor((bytes - 100) / 2);
  const head = buffer.subarray(0, boundary(buffer, half));
  const tail = buffer.subarray(boundary(buffer, buffer.length - half));
  return `${head.toString('utf8')}\n[… ${buffer.length - head.length - tail.length} bytes left out …]\n${tail.toString('utf8')}`;
};
/** The last place at or before `at` where a character begins. */
const boundary = (buffer: Buffer, at: number): number => {
  let i = at;
  while (i > 0 && ((buffer[i] ?? 0) & 0xc0) === 0x80) i -= 1;
  return i;
};
