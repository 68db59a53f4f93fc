/** `cast sessions search`. */
import { Command, Option } from 'clipanion';
import { CastError, type SearchHit, type SearchPlace } from '../../kernel/index.ts';
import { wholeNumber } from '../arguments.ts';
import { createPaint, oneLine, type Paint } from '../style.ts';
import { SessionsCommand } from './base.ts';
import { dateOf, titleOf } from './transcript.ts';

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
  depth = Option.String('--depth', { description: 'Look so many times as far back' });
  text = Option.Rest({ name: 'TEXT', required: 1 });

  override async execute(): Promise<number> {
    const { stdio, environment } = this.context;
    const limit = wholeNumber('--limit', this.limit);
    const depth = this.depth === undefined ? 1 : wholeNumber('--depth', this.depth);
    const { hits, hasMore } = await this.withStore(async (store, root) => {
      if (!store.search)
        throw new CastError('STORE_UNAVAILABLE', 'this store of sessions cannot be searched', { fix: 'Switch the plugin sessions-sqlite on.' });
      return store.search({ text: this.text.join(' '), limit, depth, ...(this.all ? {} : { root }) });
    });
    if (this.json) await this.print(JSON.stringify({ hits, hasMore }, null, 2));
    else if (hits.length === 0) await this.print(this.all ? 'Nothing was found.' : 'Nothing was found in this project; --all searches every project.');
    else {
      const paint = createPaint(stdio.isTerminal.out, environment);
      await this.print(hits.flatMap((hit) => this.#lines(hit, paint)));
      if (hasMore) stdio.err('cast: there may be more; --limit shows more sessions, --depth N looks further back\n');
    }
    return 0;
  }

  #lines({ session, places }: SearchHit, paint: Paint): readonly string[] {
    const about = [oneLine(session.id), dateOf(session.updatedAt), ...(this.all ? [oneLine(session.root)] : [])];
    return [
      `${paint.bold(titleOf(session))}  ${paint.dim(about.join('  '))}`,
      ...places.map((place) => `  ${paint.dim(`${place.role}:`)} ${marked(place, paint)}`),
    ];
  }
}

const marked = ({ snippet }: SearchPlace, paint: Paint): string => snippet.map(({ text, isHit }) => (isHit ? paint.yellow(safe(text)) : safe(text))).join('');

/** Spaces at the ends stay: they stand between the parts. */
const safe = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ');
