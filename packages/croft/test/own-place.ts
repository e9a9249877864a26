import { chmodSync } from 'node:fs';
import { onTestFinished, vi } from 'vitest';
import { makeDirectory } from './harness.ts';

/** Where the grounds of this test are and nobody else's, whose programs would be run or which would be counted. */
export function makeOwnPlace() {
  const place = makeDirectory();
  chmodSync(place.path, 0o755);
  vi.stubEnv('TMPDIR', place.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  return place;
}
