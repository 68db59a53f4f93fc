import type { Engine } from './query.ts';
import type { Desk } from './place.ts';
import { TextSearch } from './text-search.ts';
import { Tour } from './tour.ts';

/** Searches without any other program: the same files and lines, only slower. */
export const walk = (desk: Desk): Engine => ({
  async files(query, visit) {
    const tour = new Tour(desk, query);
    for await (const paths of tour.files()) for (const path of paths) visit(path);
    return tour.remarks();
  },
  matches: (query, visitor) => new TextSearch(desk, query, visitor).run(),
});
