import type { Argv } from './profile.ts';

/**
 * Builds a command for a formatter that takes files but no directory: runs `whole` if the caller passes `.`, which
 * means the whole project, and `files` otherwise.
 */
export function formatWholeOrFiles(whole: Argv, files: Argv): Argv {
  const script = `if [ "$*" = . ]; then exec ${quote(whole)}; else exec ${quote(files)} "$@"; fi`;
  return ['sh', '-c', script, 'format', '$FILES'];
}

function quote(argv: Argv): string {
  return argv.map((word) => (/^[\w./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
