/** The list of a repository's index, read again only when the index was written: of 20,000 files it takes longest of all. */
import { type Git, type Indexed, parseIndex } from './git.ts';
import type { Images } from './images.ts';
import { hashOf } from './state.ts';

export interface IndexList {
  /** Of the image that holds it. */
  readonly hash: string;
  readonly entries: ReadonlyMap<string, Indexed>;
}

export class IndexLists {
  #last: { readonly mark: string | undefined; readonly list: IndexList } | undefined;

  async now(git: Git, images: Images): Promise<IndexList> {
    // Before the list, so that what is written meanwhile shows the next time.
    const mark = await git.indexMark();
    if (this.#last && mark !== undefined && this.#last.mark === mark) return this.#last.list;
    const bytes = await git.index();
    const hash = hashOf(bytes);
    if (!(await images.put(hash, bytes))) throw new Error('there is no room for more in the checkpoints of this session');
    const list = { hash, entries: parseIndex(bytes) };
    this.#last = { mark, list };
    return list;
  }

  /** As it was kept. */
  async earlier(hash: string, images: Images): Promise<ReadonlyMap<string, Indexed>> {
    if (this.#last?.list.hash === hash) return this.#last.list.entries;
    const bytes = await images.get(hash);
    if (!bytes) throw new Error('the list of files before the command is gone');
    return parseIndex(bytes);
  }
}
