import { canonicalNames } from '../../core/control-files/canonical-name.ts';
import { gitSettings, toObeyedName } from '../../core/control-files/control-file-names.ts';
import { findControlPath } from '../../core/control-files/find-control-path.ts';

/**
 * Finds the paths that programs of this machine may obey as soon as they lie in a directory of it: settings of editors,
 * agents and git. A workspace holds them back only where its own machine obeys them, which is not everywhere below a
 * folder that somebody copies. `paths` has the files of both sides, because they may make a git directory together.
 */
export function findControlPaths(
  paths: Iterable<string>,
  allowed: ReadonlySet<string> = new Set(),
): (path: string) => boolean {
  const heads = new Set<string>();
  const directoriesWithSettings = new Set<string>();
  for (const path of paths) {
    const names = canonicalNames(path);
    if (names.at(-1) === 'HEAD') heads.add(directoryAt(names, names.length - 1));
    for (const index of indexesOfSettings(names)) directoriesWithSettings.add(directoryAt(names, index));
  }
  return (path) => {
    const names = canonicalNames(path);
    if (names.includes('.git')) return true;
    if (findControlPath(path) !== undefined) return !isAllowed(names, allowed);
    const own = directoryAt(names, names.length - 1);
    if (names.at(-1) === 'HEAD' && directoriesWithSettings.has(own)) return true;
    return indexesOfSettings(names).some((index) => heads.has(directoryAt(names, index)));
  };
}

function isAllowed(names: readonly string[], allowed: ReadonlySet<string>): boolean {
  return names.every((name) => {
    const obeyed = toObeyedName(name);
    return obeyed === undefined || allowed.has(obeyed);
  });
}

function indexesOfSettings(names: readonly string[]): number[] {
  return names.flatMap((name, index) => (gitSettings.has(name) ? [index] : []));
}

/** In lower case, because the directory of this machine may ignore case. */
function directoryAt(names: readonly string[], length: number): string {
  return names.slice(0, length).join('/').toLowerCase();
}
