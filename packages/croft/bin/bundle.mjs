// Plain JavaScript on built-ins: start.mjs loads it before anything else, and set-up runs it with whatever Node is there.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const own = join(import.meta.dirname, '..');

/** The whole program in a few files, which load three times faster than the sources. `scripts/bundle.ts` makes it. */
export const bundle = join(own, 'dist/main.js');

/** Whether no source of the package in `directory` is newer than its bundle. */
export function isBundleCurrent(directory = own) {
  const madeAt = modifiedAt(join(directory, 'dist/main.js'));
  if (madeAt === undefined) return false;
  // Beside an installed package may lie the lock file of somebody's own project.
  if (modifiedAt(join(directory, 'src')) === undefined) return true;
  if (modifiedAt(join(directory, '../../package-lock.json')) > madeAt) return false;
  const sources = ['src', '../protocol/src', '../sdk/src'].map((name) => join(directory, name));
  return !sources.some((source) => hasNewer(source, madeAt));
}

/** A file that was removed or renamed leaves its directory newer. */
function hasNewer(directory, time) {
  const modified = modifiedAt(directory);
  if (modified === undefined) return false;
  if (modified > time) return true;
  return readdirSync(directory, { withFileTypes: true }).some((entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? hasNewer(path, time) : !path.endsWith('.test.ts') && modifiedAt(path) > time;
  });
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
