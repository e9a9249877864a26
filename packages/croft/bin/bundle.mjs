// Plain JavaScript on built-ins: start.mjs loads it before anything else, and set-up runs it with whatever Node is there.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const own = join(import.meta.dirname, '..');

/** The whole program in a few files, which load three times faster than the sources. `scripts/bundle.ts` makes it. */
export const bundle = join(own, 'dist/main.js');

/** Whether no source of the package in `directory` is newer than its bundle. */
export function isBundleCurrent(directory = own) {
  const made = join(directory, 'dist/main.js');
  // Beside an installed package may lie the lock file of somebody's own project.
  if (modifiedAt(join(directory, 'src')) === undefined) return modifiedAt(made) !== undefined;
  const sources = ['../../package-lock.json', 'src', '../protocol/src', '../sdk/src'];
  return isCurrent(
    made,
    sources.map((name) => join(directory, name)),
  );
}

/** Whether the page for people, which `scripts/page.ts` makes, is there and no source of it is newer. */
export function isPageCurrent(directory = join(own, '../dashboard')) {
  const sources = ['../../package-lock.json', 'src', 'index.html', 'vite.config.ts'];
  return isCurrent(
    join(directory, 'dist/index.html'),
    sources.map((name) => join(directory, name)),
  );
}

/** Whether the documentation, which `scripts/docs.ts` makes, is there and no source of it is newer. */
export function areDocsCurrent(directory = join(own, '../..')) {
  const folder = join(directory, 'docs');
  const pages = readIfDirectory(folder).filter((name) => name.endsWith('.md'));
  const beside = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'openapi.json', 'package-lock.json', 'scripts/docs'];
  const looks = ['docs/images', 'packages/dashboard/src/look/tokens.css'];
  const sources = [...beside, ...looks, ...pages.map((name) => `docs/${name}`)];
  return isCurrent(
    join(folder, 'dist/index.html'),
    sources.map((name) => join(directory, name)),
  );
}

function isCurrent(made, sources) {
  const madeAt = modifiedAt(made);
  return madeAt !== undefined && !sources.some((source) => hasNewer(source, madeAt));
}

/** A file that was removed or renamed leaves its directory newer. */
function hasNewer(path, time) {
  if (path.endsWith('.test.ts')) return false;
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.mtimeMs > time) return true;
  return found.isDirectory() && readdirSync(path).some((name) => hasNewer(`${path}/${name}`, time));
}

function readIfDirectory(path) {
  return modifiedAt(path) === undefined ? [] : readdirSync(path);
}

function modifiedAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs;
}
