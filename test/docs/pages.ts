/** The reference pages, made from the sources. `docs/generate.mjs` writes them, a test compares them. */
import { configPage } from './config-page.ts';
import { errorsPage } from './errors-page.ts';
import { eventsPage } from './events-page.ts';
import { hooksPage } from './hooks-page.ts';

/** Text by path from the root. */
export const referencePages = async (): Promise<Readonly<Record<string, string>>> => ({
  'docs/hooks.md': hooksPage(),
  'docs/events.md': eventsPage(),
  'docs/errors.md': errorsPage(),
  'docs/config.md': await configPage(),
});
