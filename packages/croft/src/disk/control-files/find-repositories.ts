import { gitMarks, gitSettings, obeyedPatterns, toObeyedName } from '../../core/control-files/control-file-names.ts';
import type { FileKind } from '../../core/files/files.ts';
import { parentPath, pathBelow } from '../../core/files/workspace-path.ts';
import { findEntriesByName, type NamedEntries } from './find-entries-by-name.ts';
import type { Repository } from './follow-git-settings.ts';
import { looksLikeGit } from './is-git-directory.ts';

interface Repositories {
  readonly directories: readonly Repository[];
  /** Files and links named `.git`. */
  readonly gitFiles: readonly string[];
  /** Control files that are links. */
  readonly links: readonly { readonly path: string; readonly name: string }[];
}

interface Findings {
  readonly directories: Repository[];
  readonly gitFiles: string[];
  readonly links: { path: string; name: string }[];
}

/** Every name that says something about a repository or a control file. */
const wanted = [...new Set(['.git', ...gitMarks, ...gitSettings, ...obeyedPatterns])];

/**
 * Finds the git directories below an open directory, and the files and links that lead elsewhere. Skips `node_modules`.
 */
export async function findRepositories(handle: number, find = findEntriesByName): Promise<Repositories> {
  const findings: Findings = { directories: [], gitFiles: [], links: [] };
  for (const entries of await find(handle, wanted)) noteDirectory(findings, entries);
  return findings;
}

function noteDirectory(findings: Findings, { path, kinds }: NamedEntries): void {
  const isDotGit = path === '.git' || path.endsWith('/.git');
  const isGit = isDotGit || looksLikeGit((name) => kinds.get(name));
  if (isGit) findings.directories.push({ git: path, tree: isDotGit ? parentPath(path) : path });
  for (const [name, kind] of kinds) noteEntry(findings, pathBelow(path, name), name, kind);
}

function noteEntry(findings: Findings, path: string, name: string, kind: FileKind): void {
  if (name === '.git' && kind !== 'directory') findings.gitFiles.push(path);
  const obeyed = kind === 'link' ? toObeyedName(name) : undefined;
  if (obeyed !== undefined) findings.links.push({ path, name: obeyed });
}
