import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { sha256 } from '../lib/crypto/sha256.ts';
import { packageDirectory } from '../lib/package-directory.ts';

const native = join(packageDirectory, 'native');

/** The init that set-up compiled, and the file with its expected hash. */
export const initBinary = join(native, 'build/croft-init');
const manifestFile = join(native, 'build/croft-init.sha256');

/**
 * Creates a function that returns the path of the init. The function throws `E_SANDBOX_UNAVAILABLE` unless the file is
 * exactly the one that set-up compiled. The file is hashed once, and again when it changes.
 */
export function createInitFinder(): () => string {
  let known = '';
  return () => {
    try {
      const { ino, size, mtimeMs, ctimeMs } = statSync(initBinary);
      const identity = [ino, size, mtimeMs, ctimeMs].join();
      if (identity === known) return initBinary;
      if (readFileSync(manifestFile, 'utf8').trim() === sha256(readFileSync(initBinary))) {
        known = identity;
        return initBinary;
      }
    } catch (cause) {
      throw unusable('is missing', cause);
    }
    throw unusable('is not the one that was compiled');
  };
}

function unusable(reason: string, cause?: unknown): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `the init of sandboxes ${reason}; run: npm run setup`, {
    details: { provider: 'bubblewrap' },
    cause,
  });
}
