import { UsageError } from '../../lib/usage-error.ts';

/** Commands that open workspaces and sandboxes of this machine. All others talk to a server or change settings. */
const ownCommands = new Set(['mcp', 'runner', 'serve', 'tool']);

/** Throws on systems other than Linux, on which Croft opens no sandboxes. */
export function requireLinux(command: string, platform: string = process.platform): void {
  if (platform === 'linux' || !ownCommands.has(command)) return;
  throw new UsageError(
    `croft ${command} needs Linux, and this is ${platform}; run croft serve in a Linux virtual machine, in WSL 2 or in a ` +
      'container, and connect to it with: croft init --http http://127.0.0.1:7070 (docs/platforms.md)',
  );
}
