// Plain JavaScript, because of whatever is loaded before Node's compile cache is on the types are stripped at every start,
// which takes longer than all the rest of starting Node.
import { lstatSync, statSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { tmpdir } from 'node:os';
import { bundle, isBundleCurrent } from './bundle.mjs';

const base = `${tmpdir()}/croft-${process.geteuid?.()}`;
const cache = `${base}/compiled`;
// Code from this directory is run. An earlier start made it by the rules of lib/files/temporary-directory.ts, which are
// checked here again. If it is missing, lib/files/temporary-directory.ts makes it later in this start and reports what
// is wrong.
if (isSafe(tmpdir()) && isOurs(base) && isOurs(cache)) enableCompileCache(cache);

await import(isBundleCurrent() ? bundle : '../src/main.ts');

/** Whether no other user can rename files in this directory that belong to this user. */
function isSafe(directory) {
  const { uid, mode } = statSync(directory, { throwIfNoEntry: false }) ?? {};
  return [0, process.geteuid?.(), 65_534].includes(uid) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);
}

/** A directory, and no link to one, that nobody else can list or write to. */
function isOurs(directory) {
  const found = look(directory);
  return found?.isDirectory() === true && found.uid === process.geteuid?.() && (found.mode & 0o066) === 0;
}

/** Returns the stat of a directory; `undefined` below a file or without access. */
function look(directory) {
  try {
    return lstatSync(directory);
  } catch {
    return undefined;
  }
}
