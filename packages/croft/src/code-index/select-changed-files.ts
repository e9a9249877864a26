import { excludeSiblings } from '../core/content/search/exclude-siblings.ts';
import { type FoundFile, listFilesWithRipgrep } from '../core/content/search/ripgrep.ts';
import { temporaryPrefix } from '../core/files/temporary-prefix.ts';
import type { Workspace } from '../core/workspace/workspace.ts';

/** Returns the paths that may have changed since the last call; `everything` the first time. */
export type TakeChangedPaths = () => Promise<ReadonlySet<string> | 'everything'>;

/** The files that a search sees: without ignored files and without packages. */
const options = ['--glob=!node_modules/', '--max-filesize=1M'];
/** With changes in more directories, the whole tree is listed. */
const maxDirectories = 8;
const maxChanges = 2000;
const ruleFiles = new Set(['.gitignore', '.ignore', '.rgignore']);

/** Paths that concern an index, or `everything` if the rules for ignored files may have changed. */
export function selectChangedFiles(changed: ReadonlySet<string> | 'everything'): readonly string[] | 'everything' {
  if (changed === 'everything') return changed;
  const paths = [...changed].filter(isOfInterest);
  if (paths.length > maxChanges || paths.some(isRuleFile) || changed.has('.git/info/exclude')) return 'everything';
  return paths;
}

function isOfInterest(path: string): boolean {
  const names = path.split('/');
  const isHidden = names.includes('.git') || names.includes('node_modules');
  return !isHidden && !names.at(-1)?.startsWith(temporaryPrefix) && path.isWellFormed();
}

function isRuleFile(path: string): boolean {
  return ruleFiles.has(path.slice(path.lastIndexOf('/') + 1));
}

type SearchedWorkspace = Pick<Workspace, 'withSearchBox' | 'listFiles'>;

/** Lists all files, with the times of their last change. */
export function listAll(
  workspace: SearchedWorkspace,
  onFiles: (files: readonly FoundFile[]) => Promise<boolean>,
  signal: AbortSignal,
): Promise<unknown> {
  return listFilesWithRipgrep(workspace as Workspace, {
    ...{ args: options, scope: '', suffix: '', signal, wants: () => true, onFiles },
  });
}

/** Returns those of the new paths that are files and not ignored; `undefined` if they are in too many directories. */
export async function selectListed(
  workspace: SearchedWorkspace,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const wanted = new Set(paths);
  const directories = new Set(paths.map((path) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  if (directories.size > maxDirectories) return undefined;
  const listed: string[] = [];
  for (const directory of directories) await listDirectory(directory);
  return listed;

  /**
   * A search that starts in a directory does not ask whether the directory itself is ignored, so it starts at the root.
   */
  async function listDirectory(directory: string): Promise<void> {
    const depth = directory === '' ? 1 : directory.split('/').length + 1;
    await listFilesWithRipgrep(workspace as Workspace, {
      args: [...options, `--max-depth=${depth}`, ...excludeSiblings(`${directory}/x`)],
      ...{ scope: '', suffix: '', signal, wants: () => true },
      async onFiles(files) {
        for (const { path } of files) if (wanted.delete(path)) listed.push(path);
        return wanted.size > 0;
      },
    });
  }
}
