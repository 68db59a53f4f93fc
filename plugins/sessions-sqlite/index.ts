import { definePlugin } from '../../kernel/index.ts';
import { manifest } from './manifest.ts';
import { createSqliteStore } from './store.ts';

export default definePlugin({
  ...manifest,
  setup(host) {
    const store = createSqliteStore({
      home: host.home,
      clock: host.clock,
      onWarning: (text, code) => host.log.warn(text, { code }),
    });
    host.stores.add(store);
    host.onDispose(() => store.close());
  },
});
