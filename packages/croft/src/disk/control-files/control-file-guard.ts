import { type Allowance, mergeAllowances } from '../../core/control-files/allowance.ts';
import { canonicalNames, foldPath } from '../../core/control-files/canonical-name.ts';
import { type ControlFile, isAllowed, refuseControlFile } from '../../core/control-files/control-file.ts';
import { gitMarks, gitSettings, toGitName, toObeyedName } from '../../core/control-files/control-file-names.ts';
import { isObeyedAt, settingLength } from '../../core/control-files/find-control-path.ts';
import type { WorkspaceRoot } from '../paths/walk.ts';
import { findObeyedPaths, type ObeyedPaths } from './find-obeyed-paths.ts';
import { completesGitDirectory, isGitDirectory, isThere } from './is-git-directory.ts';

/** A root directory whose control files are guarded. */
export interface GuardedRoot extends WorkspaceRoot {
  /** Names of control files that the operator allows to be changed. Defaults to none. */
  readonly allowControl?: readonly string[] | undefined;
}

/**
 * Throws `E_CONTROL_FILE` for a path whose change would steer programs outside the sandbox; commands inside cannot
 * change it either. Paths are relative to the root. A path that may lead through links must be checked again with its
 * links resolved.
 */
export async function mustNotBeControlFile(root: GuardedRoot, path: string, allow?: Allowance): Promise<void> {
  const [found] = await findControlFiles(root, path, { allow });
  if (found) throw refuseControlFile(path, found);
}

interface FindControlFilesOptions {
  readonly allow?: Allowance | undefined;
  /** Defaults to the current state. */
  readonly obeyed?: ObeyedPaths | undefined;
}

/** The control files that a change of this path would change, without the allowed ones. */
export async function findControlFiles(
  root: GuardedRoot,
  path: string,
  { allow, obeyed }: FindControlFilesOptions = {},
): Promise<ControlFile[]> {
  const names = canonicalNames(path);
  const allowance = mergeAllowances({ names: root.allowControl }, allow);
  const found = [
    ...findDotGit(root, names),
    ...findCompleted(root, names),
    ...findGitSettings(root, names),
    ...findObeyed(root, names),
    ...findAmongObeyed(obeyed ?? (await findObeyedPaths(root)), path),
  ];
  return found.filter((each) => !isAllowed(each, path, allowance));
}

/** A new `.git`, or a change of `.git` itself: only git may do that. */
function* findDotGit(root: WorkspaceRoot, names: readonly string[]): Generator<ControlFile> {
  for (const index of indexesOf(names, (name) => name === '.git')) {
    const control = upTo(names, index + 1);
    if (index === names.length - 1 || !isThere(root, control)) yield { control, reason: 'git-directory' };
  }
}

/** The last name that would complete a git directory, also if it is a directory made on the way. */
function* findCompleted(root: WorkspaceRoot, names: readonly string[]): Generator<ControlFile> {
  for (const index of indexesOf(names, (name) => gitMarks.has(name))) {
    const directory = upTo(names, index);
    if (completesGitDirectory(root, directory, new Set(names.slice(index, index + 1))))
      yield { control: directory === '' ? '.' : directory, reason: 'git-directory' };
  }
}

/** Settings in `.git`, and in a git directory of any name, which is recognised by its content. */
function* findGitSettings(root: WorkspaceRoot, names: readonly string[]): Generator<ControlFile> {
  const dotGit = names.indexOf('.git');
  const length = dotGit < 0 || dotGit === names.length - 1 ? undefined : settingLength(names, dotGit + 1);
  if (length !== undefined) yield toSetting(names, length);
  for (const index of indexesOf(names, (name) => gitSettings.has(name) || name === 'info')) {
    const ends = names[index] === 'info' ? index + 2 : index + 1;
    if (names[index] === 'info' && names[index + 1] !== 'attributes') continue;
    // `config.worktree` counts even before commands complete the git directory around it.
    if (names[index] === 'config.worktree' || isGitDirectory(root, upTo(names, index))) yield toSetting(names, ends);
  }
}

function toSetting(names: readonly string[], length: number): ControlFile {
  const last = names[length - 1] === 'attributes' ? 'info/attributes' : (names[length - 1] ?? '');
  return { control: upTo(names, length), reason: 'git-setting', name: toGitName(last) };
}

/**
 * Files that programs obey by name: new ones at the root of the workspace and of its repositories, existing ones
 * anywhere.
 */
function* findObeyed(root: WorkspaceRoot, names: readonly string[]): Generator<ControlFile> {
  for (const index of indexesOf(names, (name) => toObeyedName(name) !== undefined)) {
    if (!isObeyedAt(names, index)) continue;
    const [directory, control] = [upTo(names, index), upTo(names, index + 1)];
    if (index === 0 || isThere(root, control) || isThere(root, `${directory}/.git`))
      yield { control, reason: 'obeyed', name: toObeyedName(names[index] ?? '') };
  }
}

/**
 * Paths that settings and links lead to, everything below them, and the directories above, which cannot be removed
 * either.
 */
function* findAmongObeyed(obeyed: ObeyedPaths, path: string): Generator<ControlFile> {
  if (obeyed.size === 0) return;
  const folded = foldPath(path);
  for (const [control, file] of obeyed) {
    const other = foldPath(control);
    if (folded === other || folded.startsWith(`${other}/`) || other.startsWith(`${folded}/`)) yield file;
  }
}

function indexesOf(names: readonly string[], isOne: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (isOne(name) ? [index] : []));
}

function upTo(names: readonly string[], length: number): string {
  return names.slice(0, length).join('/');
}
