import { chmodSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';
import { makeDirectory } from './harness.ts';

/**
 * Gives the escape fixtures of this test their own temporary directory, so that programs of other tests are neither run
 * nor counted.
 */
export function useOwnTemporaryDirectory() {
  const directory = makeDirectory();
  chmodSync(directory.path, 0o755);
  vi.stubEnv('TMPDIR', directory.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  return directory;
}
