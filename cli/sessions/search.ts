/** `cast sessions search`. */
import { Command, Option } from 'clipanion';
import { CastError, type SearchHit, type Snippet } from '../../kernel/index.ts';
import { wholeNumber } from '../arguments.ts';
import { count, createPaint, oneLine, type Paint } from '../style.ts';
import { SessionsCommand, titleOf } from './base.ts';
import { dateOf } from './transcript.ts';

const LISTED = '20';

export class SearchCommand extends SessionsCommand {
  static override paths = [['sessions', 'search']];
  static override usage = Command.Usage({
    category: 'Sessions',
    description: 'Sessions of this project in which something was said',
    details: 'Each word has to be there, in any message. What describes a session (its title, folder, id or model) counts as well.',
  });
  all = Option.Boolean('--all', false, { description: 'In every project' });
  limit = Option.String('--limit', LISTED, { description: `How many; default ${LISTED}` });
  more = Option.String('--more', { description: 'Look this many times further back' });
  text = Option.Rest({ name: 'TEXT', required: 1 });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    const limit = wholeNumber('--limit', this.limit);
    const more = this.more === undefined ? 0 : wholeNumber('--more', this.more);
    const { hits, hasMore, waiting } = await this.withStore(async (store, root) => {
      if (!store.search)
        throw new CastError('STORE_UNAVAILABLE', 'this store of sessions cannot be searched', { fix: 'Switch the plugin sessions-sqlite on.' });
      return store.search({ text: this.text.join(' '), limit, more, ...(this.all ? {} : { root }) });
    });
    if (waiting > 0) stdio.err(`cast: up to ${count(waiting, 'older message')} cannot be found yet; each search makes more of them ready\n`);
    if (this.json) await this.print(JSON.stringify({ hits, hasMore, waiting }, null, 2));
    else if (hits.length === 0) await this.print(this.all ? 'Nothing was found.' : 'Nothing was found in this project; --all searches every project.');
    else {
      const paint = createPaint(stdio.isTerminal.out, environment);
      await this.print(hits.flatMap((hit) => this.#lines(hit, paint)));
      if (hasMore) stdio.err('cast: there is more; --limit shows more sessions, --more N looks further back\n');
    }
    return 0;
  }

  #lines({ session, match, snippet }: SearchHit, paint: Paint): readonly string[] {
    const about = [oneLine(session.id), dateOf(session.updatedAt), ...(this.all ? [oneLine(session.root)] : []), ...(match === 'message' ? [] : [match])];
    return [`${paint.bold(titleOf(session))}  ${paint.dim(about.join('  '))}`, ...(snippet ? [`  ${markedText(snippet, paint)}`] : [])];
  }
}

const markedText = ({ text, marks }: Snippet, paint: Paint): string => {
  const parts: string[] = [];
  let at = 0;
  for (const [start, end] of marks) {
    parts.push(safe(text.slice(at, start)), paint.yellow(safe(text.slice(start, end))));
    at = end;
  }
  return [...parts, safe(text.slice(at))].join('');
};

/** Spaces at the ends stay: they stand between the parts. */
const safe = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ');
