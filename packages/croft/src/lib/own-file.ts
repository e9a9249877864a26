import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * A file that only its owner reads, whole or not at all, on the disk when this returns. `if-absent`: when two programs
 * make it at once, the first has it.
 */
export function replaceOwnFile(file: string, text: string, when: 'always' | 'if-absent'): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeDurably(temporary, text);
  if (when === 'always') {
    renameSync(temporary, file);
  } else {
    linkIfAbsent(temporary, file);
  }
  syncDirectory(dirname(file));
}

function linkIfAbsent(temporary: string, file: string): void {
  try {
    linkSync(temporary, file);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  } finally {
    unlinkSync(temporary);
  }
}

/** Without it a power cut takes the name back: a key that records are sealed with would be gone. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function writeDurably(file: string, text: string): void {
  const handle = openSync(file, 'wx', 0o600);
  try {
    writeSync(handle, text);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
