import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    globalSetup: ['adapters/install-adapters.ts'],
    setupFiles: ['packages/croft/test/support/compile-cache.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
