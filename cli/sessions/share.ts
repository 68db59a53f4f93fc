/** `cast sessions share`. */
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { Command, Option } from 'clipanion';
import type { Entry, Message, SessionRecord, Store } from '../../kernel/index.ts';
import { createCredentials } from '../../kernel/host/credentials.ts';
import { SavedSecrets } from '../../kernel/host/secrets.ts';
import { createExits } from '../../kernel/session/exits.ts';
import { oneLine } from '../style.ts';
import { known, StoreCommand } from './base.ts';
import { htmlEnd, htmlEntry, htmlStart } from './html.ts';
import { writeWhole } from './whole-file.ts';

export class ShareCommand extends StoreCommand {
  static override paths = [['sessions', 'share']];
  static override usage = Command.Usage({
    category: 'Sessions',
    description: 'Write a session as one page that others may see',
    details: `
      What was said and done on the current branch, as an HTML file that needs no network and runs nothing. Left out: instructions, reasoning, and whatever neither you nor the model said. Keys and saved secrets are masked, your home folder is ~.
      What the session says by itself is in it: look at the page before you give it away.
    `,
  });
  id = Option.String({ name: 'ID' });
  output = Option.String('-o,--output', { description: 'File to write, which must not be there yet; default cast-ID.html' });
  isTalkOnly = Option.Boolean('--talk-only', false, { description: 'Without tools and their results' });

  override async execute(): Promise<number> {
    const { cwd, home } = this.place();
    await this.withStore(async (store) => {
      const record = await known(store, this.id);
      const name = this.output ?? `cast-${record.id}.html`;
      await writeWhole(resolve(cwd, name), pageOf(store, record, await this.#cleaner(home), this.isTalkOnly));
      await this.print(`Written to ${oneLine(name)}. Look at it before you give it away.`);
    });
    return 0;
  }

  async #cleaner(castHome: string): Promise<Cleaner> {
    const saved = new SavedSecrets(castHome);
    const credentials = createCredentials(this.context.environment, saved);
    // Reads all that are saved.
    await credentials.get('CAST_API_KEY');
    await saved.get('CAST_API_KEY');
    const exits = createExits([credentials.values, saved.values]);
    const home = homedir();
    return (value) => withTexts(exits.redact(value), (text) => (home.length > 1 ? text.replaceAll(home, '~') : text));
  }
}

type Cleaner = <T>(value: T) => T;

const withTexts = <T>(value: T, change: (text: string) => string): T => {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((each: unknown) => withTexts(each, change)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withTexts(each as unknown, change)])) as T;
};

async function* pageOf(store: Store, record: SessionRecord, clean: Cleaner, isTalkOnly: boolean): AsyncGenerator<string> {
  const entries: readonly Entry[] = await store.branch(record.id, { kinds: ['message'] });
  yield htmlStart(clean(record));
  for (const entry of entries) {
    const shown = entry.kind === 'message' ? shownOf(entry.data, isTalkOnly) : undefined;
    if (shown) yield htmlEntry({ ...entry, kind: 'message', data: clean(shown) });
  }
  yield htmlEnd;
}

/** Undefined for what neither a person nor the model said. */
const shownOf = (message: Message, isTalkOnly: boolean): Message | undefined => {
  const { role, origin, blocks, reminder } = message;
  if (reminder || (role === 'user' && origin !== 'user')) return undefined;
  const shown = blocks.filter(({ type }) => type === 'text' || type === 'image' || (!isTalkOnly && (type === 'call' || type === 'result')));
  const { raw: _, ...rest } = message;
  return shown.length > 0 ? { ...rest, blocks: shown } : undefined;
};
