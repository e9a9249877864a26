import { gitMarks, gitSettings, obeyedDirectories, obeyedFiles } from './control-file-names.ts';

/** Nearly all names: they mean the same on every file system. `head` may be git's `HEAD`. */
const plain = /^(?!head$)[a-z0-9._-]*[a-z0-9_-]$/;
/** Code points that some file systems leave out when they compare names. */
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;
const workspaceFile = '.code-workspace';

const byFoldedName = new Map(
  ['.git', ...obeyedDirectories, ...obeyedFiles, ...gitSettings, ...gitMarks, 'info', 'attributes'].map((name) => [
    foldName(name),
    name,
  ]),
);

/** Folded names by the first letters of the short name that FAT and NTFS give a file with a dot at its start. */
const byShortName = new Map(
  [...byFoldedName].filter(([folded]) => folded.startsWith('.')).map(([folded, name]) => [toShortStart(folded), name]),
);

/**
 * Returns the control file's name that a file system which ignores case would take this name for, or the name itself.
 * Directories of macOS and Windows, of USB drives and of WSL ignore case, and so may directories of ext4: there,
 * `.GIT/config` is the configuration of git. Also covers trailing dots and spaces, streams (`.git:x`), short names
 * (`GIT~1`) and ignored code points, as git itself does.
 */
export function canonicalName(name: string): string {
  if (plain.test(name)) return name;
  const folded = foldName(name);
  if (folded.endsWith(workspaceFile)) return folded;
  const short = /^([^~]{1,6})~\d+(?:\.[^.]*)?$/.exec(folded)?.[1];
  return byFoldedName.get(folded) ?? (short === undefined ? undefined : byShortName.get(short)) ?? name;
}

/** The names of a path, each as a file system that ignores case may take it. */
export function canonicalNames(path: string): string[] {
  return path.split('/').map(canonicalName);
}

/** Folds every name of a path for a comparison of paths. */
export function foldPath(path: string): string {
  return path.split('/').map(foldName).join('/');
}

function foldName(name: string): string {
  const [stem = ''] = name.split(':', 1);
  // Upper case first: `ſ` and `K` have it in common with `s` and `k`.
  return stem
    .normalize('NFKC')
    .replace(ignorable, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/[. ]+$/, '');
}

function toShortStart(folded: string): string {
  const letters = folded.slice(1).split('.', 1)[0] ?? '';
  return letters.replaceAll(/[^a-z0-9_]/g, '').slice(0, 6);
}
