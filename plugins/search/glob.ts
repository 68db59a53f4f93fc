import type { ToolCall, ToolInputs, ToolResult } from '../../kernel/index.ts';
import { fitting, remarkRows } from './answer.ts';
import { withEngine } from './engine.ts';
import { First } from './first.ts';
import { LIMITS } from './limits.ts';
import { type Desk, locateFolder, shownPath } from './place.ts';
import { answering } from './answering.ts';
import { rulesFor } from './rules.ts';
import { wildcard } from './wildcard.ts';

/** So few that the next step is to read them. */
const FEW = 3;

export const glob = (input: ToolInputs['glob'], call: ToolCall, desk: Desk): Promise<ToolResult> =>
  answering(call.signal, 'text', async () => {
    const place = await locateFolder(input.path ?? '.', call, desk);
    const limit = Math.min(input.limit ?? 1000, LIMITS.lines);
    const rules = await rulesFor(place.path, undefined, desk.environment);
    return withEngine(desk, async (engine) => {
      const first = new First<string>(limit);
      const query = { path: place.path, isFile: false, rules, signal: call.signal, wanted: wildcard(input.pattern, place.path) };
      const remarks = await engine.files(query, (path) => first.add(path, path, 1));
      const paths = fitting(first.items().map((path) => shownPath(place, path)));
      const notes = [...remarkRows(place, rules, remarks)];
      if (first.total > paths.length) notes.unshift(`(First ${paths.length} of ${first.total} files. Narrow the pattern to see the rest.)`);
      else if (paths.length > 0 && paths.length <= FEW) notes.unshift('(So few files: read one of them rather than search on.)');
      return [...(paths.length > 0 ? paths : ['No files found']), ...notes].join('\n');
    });
  });
