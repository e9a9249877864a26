import type { Argv } from './profile.ts';

/**
 * A command for a formatter that takes files and no directory: another one where the whole project is meant, which
 * callers say as `.`.
 */
export function wholeOrFiles(whole: Argv, files: Argv): Argv {
  const script = `if [ "$*" = . ]; then exec ${quote(whole)}; else exec ${quote(files)} "$@"; fi`;
  return ['sh', '-c', script, 'format', '$FILES'];
}

function quote(argv: Argv): string {
  return argv.map((word) => (/^[\w./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}
