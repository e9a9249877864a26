import { readShellCommands } from '../../lib/text/shell-commands.ts';

const refused = new Set(
  'sudo su doas pkexec shutdown reboot halt poweroff chroot mount umount mkfs nsenter unshare'.split(' '),
);
const systemFolder = /^\/(?:usr\/)?(?:local\/)?s?bin\//;

/**
 * The first command in a shell text that can never work in a sandbox, such as `sudo`, or undefined. Only where the
 * shell would run it: not as an argument, in a comment, in a here-document or in quotes that are passed on.
 *
 * A courtesy that saves a try, not a fence: `x=sudo; $x` or `bash -c 'sudo'` get past it and fail where the fence is.
 */
export function findRefusedCommand(command: string): string | undefined {
  for (const word of readShellCommands(command)) {
    const name = word.replace(systemFolder, '');
    if (refused.has(name) || /^mkfs\.\w+$/.test(name)) return name;
  }
  return undefined;
}
