import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Writes a file that only its owner can read. The replacement is atomic and durable when this function returns.
 * `if-absent`: an existing file stays, so that of two programs that create it at once the first wins.
 */
export function replacePrivateFile(file: string, text: string, when: 'always' | 'if-absent'): void {
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

/**
 * As `replacePrivateFile`, but asynchronous, and the directory is not synced: the new name may reach the disk later
 * than the bytes, never before them.
 */
export async function replacePrivateFileAsync(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
  await rename(temporary, file);
}

/** Returns `undefined` if the file is missing. */
export function readFileIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
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

/** Without this sync a power cut could undo the rename: a key that seals records would be lost. */
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
