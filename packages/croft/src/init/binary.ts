import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { sha256 } from '../lib/sha256.ts';

const native = join(import.meta.dirname, '../../native');

/** Where set-up puts what it compiled, and what it must still be. */
export const initBinary = join(native, 'build/croft-init');
const manifestFile = join(native, 'build/croft-init.sha256');

/**
 * Answers the path of the init, and throws `E_SANDBOX_UNAVAILABLE` unless it is the very one that set-up compiled.
 * Hashed once, and again whenever the file is another one.
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
      throw unusable('is not there', cause);
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
