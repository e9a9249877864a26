import { readdirSync, rmSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import { openFilesFixture, type RestFilesFixture } from './files-fixture.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Shared by all tests of the file that imports this, and empty before each. */
export let at: RestFilesFixture;
export const mebibyte = 1024 * 1024;
export const patience = { timeout: 40_000, interval: 50 };

beforeAll(async () => {
  at = await openFilesFixture({ limits: { requestsPerMinute: 100_000, uploadBytes: 8 * mebibyte } });
});
afterAll(() => at[Symbol.asyncDispose]());
beforeEach(() => {
  for (const name of readdirSync(at.directory)) rmSync(at.at(name), { recursive: true });
});
