import { expect } from 'vitest';

/** The process title by which `scripts/find-stuck-test-files.ts` and `ps` find the process of a test file. */
process.title = `vitest ${expect.getState().testPath}`;
