import { posix } from 'node:path';
import { AppError } from '@croft/protocol';
import type { ControlFile } from '../../core/control-files/control-file.ts';
import { gitSettings, toGitName } from '../../core/control-files/control-file-names.ts';
import { type GitSetting, readGitSettings } from '../../core/control-files/read-git-settings.ts';
import { belowRoot, parentPath, pathBelow } from '../../core/files/workspace-path.ts';
import { type WorkspaceRoot, walk } from '../paths/walk.ts';
import { readContent } from '../read/read-content.ts';
import { stampOf } from './file-stamp.ts';
import { kindAt } from './is-git-directory.ts';

/** The limit of git itself. */
const maxIncludeDepth = 10;
const maxSettingsFiles = 20_000;
const maxSettingsBytes = 4 * 1024 * 1024;

/** The results of a search so far. */
export interface ObeyedPathSearch {
  readonly root: WorkspaceRoot;
  /** Absolute path of the root on this machine. */
  readonly directory: string;
  /** Paths that programs obey because a setting or a link leads to them, including everything below. */
  readonly obeyed: Map<string, ControlFile>;
  /** Settings files that were read, or would have been if they existed, each with its stamp before that. */
  readonly read: Map<string, string>;
}

/** A git directory, and the root of the working tree that its settings apply to. */
export interface Repository {
  readonly git: string;
  readonly tree: string;
}

type Kind = Pick<ControlFile, 'reason' | 'name'>;
const included: Kind = { reason: 'git-setting', name: '.git/config' };
const hooks: Kind = { reason: 'git-setting', name: '.git/hooks' };

/** Marks a path as obeyed, with every link on the way to it and their targets, existing or not. */
export function markObeyed({ root, obeyed }: ObeyedPathSearch, path: string, kind: Kind): void {
  const trace = (found: string) => {
    const control = posix.normalize(found);
    if (control !== '.') obeyed.set(control, { control, ...kind });
  };
  try {
    using _ = walk(root, path, { follow: true, trace });
  } catch {
    // The path leads out of the workspace, to nothing or in a circle: the links on the way are marked.
  }
}

/** Marks what the settings of a repository lead to: hooks elsewhere, included files, a common directory. */
export async function markRepository(findings: ObeyedPathSearch, { git, tree }: Repository): Promise<void> {
  const common = await findCommon(findings, git);
  for (const directory of common === undefined ? [git] : [git, common]) {
    for (const setting of [...gitSettings, 'info/attributes']) {
      const path = pathBelow(directory, setting);
      // Settings inside a git directory are guarded by its name; those outside are marked, existing or not.
      if (directory === common || kindAt(findings.root, path) === 'link')
        markObeyed(findings, path, { reason: 'git-setting', name: toGitName(setting) });
    }
    await markSettings(findings, directory, tree);
  }
}

/** Marks what a `.git` file or link leads to: the file says where the git directory is. */
export async function markGitFile(findings: ObeyedPathSearch, path: string): Promise<void> {
  const tree = parentPath(path);
  const line = firstLine(await readText(findings, path));
  const git = line?.startsWith('gitdir: ') ? locate(findings, tree, line.slice('gitdir: '.length)) : undefined;
  await markRepository(findings, { git: git ?? path, tree });
}

async function findCommon(findings: ObeyedPathSearch, git: string): Promise<string | undefined> {
  const line = firstLine(await readText(findings, pathBelow(git, 'commondir')));
  return line === undefined || line === '.' ? undefined : locate(findings, git, line);
}

async function markSettings(findings: ObeyedPathSearch, directory: string, tree: string): Promise<void> {
  const own = await readSettings(findings, pathBelow(directory, 'config'));
  const settings = [...own, ...(await readSettings(findings, pathBelow(directory, 'config.worktree')))];
  const elsewhere = settings.findLast(({ key }) => key === 'core.worktree')?.value;
  const trees = [tree, elsewhere === undefined ? undefined : locate(findings, directory, elsewhere)];
  for (const { key, value } of settings) {
    if (key !== 'core.hookspath') continue;
    for (const base of trees) {
      const hooksPath = base === undefined ? undefined : locate(findings, base, value);
      if (hooksPath !== undefined) markObeyed(findings, hooksPath, hooks);
    }
  }
}

/** Reads settings including those of included files, and marks each included file. */
async function readSettings(findings: ObeyedPathSearch, file: string, depth = 0): Promise<GitSetting[]> {
  const settings: GitSetting[] = [];
  for (const setting of readGitSettings((await readText(findings, file)) ?? '')) {
    settings.push(setting);
    if (setting.key !== 'include.path' && setting.key !== 'includeif.*.path') continue;
    const includedPath = locate(findings, parentPath(file), setting.value);
    if (includedPath === undefined || depth === maxIncludeDepth) continue;
    markObeyed(findings, includedPath, included);
    settings.push(...(await readSettings(findings, includedPath, depth + 1)));
  }
  return settings;
}

async function readText({ root, read }: ObeyedPathSearch, path: string): Promise<string | undefined> {
  if (!read.has(path)) read.set(path, stampOf(root, path));
  if (read.size > maxSettingsFiles)
    throw new AppError(
      'E_TOO_LARGE',
      `the git settings of this workspace are in more than ${maxSettingsFiles} files: ${path}`,
      {
        hint: 'Nothing was done. Ask the person to remove include settings or repositories that are not needed.',
      },
    );
  try {
    return (await readContent(root, path, maxSettingsBytes)).bytes.toString('utf8');
  } catch {
    return undefined;
  }
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split(/[\r\n]/, 1)[0];
}

/**
 * Resolves a value of a setting from a directory of the workspace, as a path from the root. `undefined` if the value
 * leads out of the workspace or to its root.
 */
function locate({ root, directory }: ObeyedPathSearch, from: string, value: string): string | undefined {
  if (value === '') return undefined;
  const names = [...root.names, directory];
  const whole = value.startsWith('~') ? belowHome(value, directory) : posix.resolve(directory, from, value);
  const found = value.startsWith('/') ? belowRoot(value, names) : whole && belowRoot(whole, names);
  return found === '' ? undefined : found;
}

/** Resolves `~/…`: any directory above the workspace may be somebody's home. */
function belowHome(value: string, directory: string): string | undefined {
  const rest = value.slice(value.indexOf('/'));
  if (!value.includes('/')) return undefined;
  for (let at = directory.indexOf('/'); at >= 0; at = directory.indexOf('/', at + 1)) {
    const tail = directory.slice(at);
    if (rest.startsWith(`${tail}/`)) return directory + rest.slice(tail.length);
  }
  return undefined;
}
