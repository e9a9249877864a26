import { readShellProgramNames } from '../../lib/text/shell/shell-program-names.ts';

const refused = new Set(
  'sudo su doas pkexec shutdown reboot halt poweroff chroot mount umount mkfs nsenter unshare'.split(' '),
);
const systemFolder = /^\/(?:usr\/)?(?:local\/)?s?bin\//;

/**
 * Returns the first command in a shell text that can never work in a sandbox, such as `sudo`, or `undefined`. Only
 * commands that the shell would run count: not arguments, comments, here-documents or quotes that are passed on. This
 * check saves an attempt and protects nothing: `x=sudo; $x` and `bash -c 'sudo'` get past it and fail in the sandbox.
 */
export function findImpossibleCommand(command: string): string | undefined {
  for (const word of readShellProgramNames(command)) {
    const name = word.replace(systemFolder, '');
    if (refused.has(name) || /^mkfs\.\w+$/.test(name)) return name;
  }
  return undefined;
}
