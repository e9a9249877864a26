import { defineConfig } from 'vitest/config';

const include = ['packages/*/src/**/*.test.ts', 'packages/*/test/**/*.test.ts', 'scripts/*.test.ts'];

/** Those that take so much of the machine that others beside them would fail, or that count what others do to it. */
const alone = {
  'packages/croft/test/e2e/many-sandboxes.test.ts': 'opens five hundred sandboxes at once',
  'packages/croft/test/security/full-disk.test.ts': 'fills a disk as fast as it can while others are to be served',
  'packages/croft/test/security/fair-share.test.ts':
    'attacks the machine in every way, and counts what that costs others',
};

export default defineConfig({
  test: {
    setupFiles: ['compile-cache', 'patience', 'seeds', 'worker-title'].map(
      (name) => `packages/croft/test/support/${name}.ts`,
    ),
    reporters: ['default', './scripts/find-stuck-test-files.ts'],
    // A test that passes takes a second or a few; these are for machines under load, and for those that hang.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      { extends: true, test: { name: 'together', include, exclude: Object.keys(alone), maxWorkers: 3 } },
      {
        extends: true,
        test: { name: 'alone', include: Object.keys(alone), maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
