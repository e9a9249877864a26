import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Problem } from './to-verdict.ts';

/** Records the state of files. The returned function reports which changed since. */
export function watchFiles(directory: string, files: readonly string[]): () => Problem[] {
  const before = files.map((file) => describe(directory, file));
  return () => files.map((file, index) => describe(directory, file) !== before[index] && `${file} has changed`);
}

function describe(directory: string, file: string): string {
  try {
    const path = join(directory, file);
    const { ino, mode, nlink, mtimeMs } = lstatSync(path);
    return [ino, mode, nlink, mtimeMs, contentOf(path), lstatSync(dirname(path)).ino].join();
  } catch (thrown) {
    return String(thrown);
  }
}

function contentOf(path: string): string {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return readlinkSync(path);
  if (stats.isDirectory()) return readdirSync(path).sort().join();
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
