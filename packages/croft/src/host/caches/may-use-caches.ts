import type { CommandSpec } from '../../core/commands/sandbox.ts';
import { readShellProgramNames } from '../../lib/text/shell/shell-program-names.ts';

/**
 * Programs that only read or change files and do not use packages. None of them starts programs that a project names.
 */
const plain = new Set([
  ...[':', '[', '[[', 'cd', 'echo', 'export', 'false', 'printf', 'pushd', 'popd', 'pwd', 'set', 'test', 'true', 'type'],
  ...['for', 'done', 'fi', 'esac', 'exit', 'command', 'which', 'sleep', 'date', 'id', 'whoami', 'uname', 'hostname'],
  ...[
    'cat',
    'head',
    'tail',
    'wc',
    'ls',
    'tree',
    'stat',
    'file',
    'du',
    'df',
    'od',
    'xxd',
    'hexdump',
    'md5sum',
    'sha256sum',
  ],
  ...[
    'basename',
    'dirname',
    'readlink',
    'realpath',
    'grep',
    'rg',
    'sed',
    'sort',
    'uniq',
    'cut',
    'tr',
    'tac',
    'nl',
    'seq',
  ],
  ...['diff', 'cmp', 'comm', 'jq', 'tee', 'mkdir', 'rmdir', 'touch', 'cp', 'mv', 'rm', 'ln', 'chmod', 'mktemp'],
]);

/** A command that mentions the caches themselves must see them complete. */
const nameCaches = /~|HOME|\bcaches?\b|\/home\//;

/** Tells whether a command may use package caches. Unknown commands may. */
export function mayUseCaches({ argv }: Pick<CommandSpec, 'argv'>): boolean {
  const [program, flag, line] = argv;
  if (program !== 'bash') return !plain.has(program);
  if (flag !== '-c' || line === undefined || argv.length > 3) return true;
  if (nameCaches.test(line)) return true;
  const programs = readShellProgramNames(line);
  return programs.length === 0 || programs.some((name) => !plain.has(name));
}
