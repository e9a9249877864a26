/** In any directory. The same names as in `native/control-files.c`, which holds them in place. */
export const controlNames: ReadonlySet<string> = new Set([
  ...[
    '.mcp.json',
    '.vscode',
    '.idea',
    '.zed',
    '.cursor',
    '.cursorrules',
    '.windsurf',
    '.claude',
    '.agents',
    '.codex',
    '.gemini',
  ],
  ...['.continue', '.aider.conf.yml', '.devcontainer', '.husky', '.envrc', '.bashrc', '.bash_profile', '.bash_login'],
  ...['.bash_logout', '.profile', '.zshrc', '.zshenv', '.zprofile', '.zlogin', '.inputrc', '.gitconfig', '.gitmodules'],
  ...['.ripgreprc', '.vimrc', '.exrc', '.nvimrc', '.emacs', '.dir-locals.el', '.gdbinit', '.lldbinit'],
]);

/** In a git directory. */
export const gitNames: ReadonlySet<string> = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir']);

/** What git keeps by hash or by the name of a branch, which may be any name. */
const bulkNames: ReadonlySet<string> = new Set(['objects', 'refs', 'logs', 'lfs']);

/**
 * The part of a workspace-relative path that is a control file or a directory of them: `.git/hooks` of
 * `.git/hooks/pre-push`. A git directory itself counts, because nobody can move it away from what it holds.
 */
export function findControlPath(path: string): string | undefined {
  const names = path.split('/');
  const fetched = names.indexOf('node_modules');
  // Packages come with their authors' settings, which nobody obeys there.
  const isFetched = (index: number) => fetched >= 0 && index > fetched;
  const at = names.findIndex((name, index) => name === '.git' || (controlNames.has(name) && !isFetched(index)));
  if (at < 0) return undefined;
  const length = names[at] === '.git' ? controlLength(names, at + 1) : at + 1;
  return length === undefined ? undefined : names.slice(0, length).join('/');
}

/** How many names lead to the setting in a git directory whose own names begin at `from`. */
function controlLength(names: readonly string[], from: number): number | undefined {
  if (from === names.length) return from;
  for (let at = from; at < names.length; at++) {
    const name = names[at] ?? '';
    if (gitNames.has(name)) return at + 1;
    if (name === 'info' && names[at + 1] === 'attributes') return at + 2;
    if (bulkNames.has(name)) return undefined;
  }
  return undefined;
}
