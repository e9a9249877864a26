import { statSync } from 'node:fs';
import { AppError } from '@croft/protocol';
import { describeNativeFix, findNativeFile, isIntact } from '../lib/processes/native-files.ts';

interface KnownInit {
  readonly file: string;
  /** The identity of the hashed file, from `stat`. */
  readonly identity: string;
}

let known: KnownInit | undefined;

/**
 * Returns the path of the init. Throws `E_SANDBOX_UNAVAILABLE` unless the file is exactly the one that was compiled. The
 * file is hashed once for all its users, because that takes milliseconds, and again when it changes.
 */
export function findInit(): string {
  if (known === undefined || identify(known.file) !== known.identity) known = find();
  return known.file;
}

function find(): KnownInit {
  const found = findNativeFile('croft-init');
  if (found === undefined) throw unusable('is missing');
  const known = { file: found.file, identity: identify(found.file) };
  if (!isIntact(found)) throw unusable('is not the one that was compiled');
  return known;
}

function identify(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return [found?.ino, found?.size, found?.mtimeMs, found?.ctimeMs].join();
}

function unusable(reason: string): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', `the init of sandboxes ${reason}`, {
    details: { provider: 'bubblewrap' },
    hint: `Ask the operator to run: ${describeNativeFix()}`,
  });
}
