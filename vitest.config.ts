import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  resolve: {
    alias: [
      { find: /^cast\/kernel$/, replacement: source('./kernel/index.ts') },
      { find: /^cast\/testkit$/, replacement: source('./kernel/testkit/index.ts') },
      { find: /^cast$/, replacement: source('./cli/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Tests start real processes; two at a time is what a small machine holds.
    maxWorkers: 2,
  },
});
