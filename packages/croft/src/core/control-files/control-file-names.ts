/**
 * Directories and files that programs outside the sandbox obey because they are at the top of a directory that somebody
 * opens: settings of editors, agents and dev containers, hooks of package managers, and files that shells and git read
 * at start.
 *
 * Deliberately not included: `.envrc` (direnv obeys only what a person allowed by its hash), `.gitmodules` (git runs
 * nothing from it: `update = !command` counts only in a repository's own settings), `.ripgreprc` (read only if an
 * environment variable names it), `.cursorrules` (prose), `.vimrc`, `.exrc`, `.nvimrc`, `.emacs`, `.dir-locals.el`,
 * `.gdbinit` and `.lldbinit` (disabled unless the person enabled them, or the program itself asks first).
 *
 * `npm run generate` also writes these lists for the init of sandboxes.
 */
export const obeyedDirectories: readonly string[] = [
  ...['.vscode', '.idea', '.zed', '.cursor', '.windsurf', '.claude', '.codex', '.gemini', '.continue', '.agents'],
  ...['.devcontainer', '.husky'],
];
export const obeyedFiles: readonly string[] = [
  ...['.mcp.json', '.aider.conf.yml', '.devcontainer.json'],
  ...['.bashrc', '.bash_profile', '.bash_login', '.bash_logout', '.profile', '.inputrc', '.gitconfig'],
  ...['.zshrc', '.zshenv', '.zprofile', '.zlogin'],
];
const obeyed: ReadonlySet<string> = new Set([...obeyedDirectories, ...obeyedFiles]);

const editorWorkspace = '*.code-workspace';

/** All of these names. A name that begins with `*` stands for all names that end with the rest of it. */
export const obeyedPatterns: readonly string[] = [...obeyed, editorWorkspace];

/** Returns the name for `--allow-control` if programs obey a file of this name. */
export function toObeyedName(name: string): string | undefined {
  if (obeyed.has(name)) return name;
  return name.endsWith(editorWorkspace.slice(1)) ? editorWorkspace : undefined;
}

/** Settings in a git directory that decide what git runs, also when they do not exist yet. */
export const gitSettings: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir']);

/** Entries that make a directory a git directory: `HEAD`, and either `objects` and `refs`, or `commondir`. */
export const gitMarks: ReadonlySet<string> = new Set(['HEAD', 'objects', 'refs', 'commondir']);

export function hasGitMarks(has: (mark: string) => boolean): boolean {
  return has('HEAD') && ((has('objects') && has('refs')) || has('commondir'));
}

/** Directories in which git names files by hash or by branch: any name can occur there. */
export const gitBulk: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs']);

/** Names that an operator can allow: see `allowance.ts`. Nobody can allow tools to make git directories. */
export const allowableNames: readonly string[] = [
  ...obeyed,
  ...[editorWorkspace, '.git/config', '.git/hooks', '.git/info/attributes'],
];

/**
 * Returns the name for `--allow-control` of a git setting. `commondir` and `gitdir` point to other settings: nobody can
 * allow them.
 */
export function toGitName(setting: string): string | undefined {
  if (setting === 'config' || setting === 'config.worktree') return '.git/config';
  return setting === 'hooks' || setting === 'info/attributes' ? `.git/${setting}` : undefined;
}
