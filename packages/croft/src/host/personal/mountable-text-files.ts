import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { makeTemporaryDirectory } from '../../lib/files/temporary-directory.ts';

/**
 * Creates a function that stores a text in a file for mounting in sandboxes and returns its path. There is one file per
 * content, and all exist until this process ends.
 */
export function createMountableTextFiles(purpose: string): (content: string) => string {
  let directory: string | undefined;
  return (content) => {
    if (directory === undefined || !existsSync(directory)) directory = makeOpenDirectory(purpose);
    const path = join(directory, sha256(content).slice(0, 32));
    if (!existsSync(path)) writeFileSync(path, content, { mode: 0o644 });
    return path;
  };
}

/** The owner of a workspace must be able to read the files. */
function makeOpenDirectory(purpose: string): string {
  const directory = makeTemporaryDirectory(purpose);
  chmodSync(directory, 0o755);
  return directory;
}
