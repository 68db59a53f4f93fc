import { definePlugin } from '../../kernel/index.ts';
import { createLadder } from './ladder.ts';
import { manifest } from './manifest.ts';

export default definePlugin({
  ...manifest,
  apply({ hooks, events, session, notice, warn }) {
    const ladder = createLadder({ session, notice, warn });
    events.on('input.accepted', () => ladder.reset());
    hooks.failure.tap('make it fit', (failure, { signal }) => ladder.climb(failure, signal));
  },
});
