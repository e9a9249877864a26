/** The scope of the escapes with one letter. A proof prints what it attempted, and what it does not prove. */
interface EscapeGroup {
  readonly letter: string;
  readonly title: string;
  readonly covers: string;
  readonly leavesOut: string;
}

export const escapeGroups: readonly EscapeGroup[] = [
  {
    letter: 'A',
    title: 'paths and files',
    covers:
      'the file tools, searches, restores and commands of a local workspace: paths, links, directories that are swapped ' +
      'meanwhile, archives; and directories of Croft that other users of this machine could reach or make first',
    leavesOut:
      'workspaces in buckets and on runners (run the proof on the machine that has them), and whatever you show to ' +
      'commands yourself with --allow-read',
  },
  {
    letter: 'B',
    title: 'the kernel',
    covers:
      'programs in a sandbox that want privileges, namespaces, mounts, forbidden system calls, other processes, ' +
      'terminals or sockets of this machine',
    leavesOut:
      'a hole in the kernel itself, and what one program learns of another by timing; sandboxes of --sandbox docker, ' +
      'and --sandbox none, which is no sandbox',
  },
  {
    letter: 'C',
    title: 'control files',
    covers:
      'files that shells, editors and agents obey when a person starts them in the workspace, also those that were not ' +
      'there yet',
    leavesOut:
      'programs whose settings Croft does not know by name, code that a person builds, tests or runs, and the moments that ' +
      'docs/control-files.md names',
  },
  {
    letter: 'D',
    title: 'git',
    covers:
      'hooks, settings and filters of every repository in the workspace, also of those that an agent makes or a person ' +
      'replaces meanwhile: what the git of a person would run after an agent was there',
    leavesOut:
      'what an agent commits, which is for a person to read before anybody runs it, a rebase that an agent left ' +
      'unfinished, and the moments that docs/control-files.md names',
  },
  {
    letter: 'E',
    title: 'network',
    covers: 'deny-all and restricted: addresses, names, the proxy, and what goes through it',
    leavesOut: 'allow-all, which is the network of this machine, and what is said to a host that is allowed',
  },
  {
    letter: 'F',
    title: 'secrets',
    covers: 'variables and secrets of the server, in environments, answers, files and histories',
    leavesOut:
      'a command that was given a secret: it can use it, change it beyond recognition, and send it wherever the network ' +
      'policy lets it',
  },
  {
    letter: 'G',
    title: 'resources',
    covers:
      'processes, memory, disk, handles, inotify, processors, output, time and patterns, while another sandbox goes on',
    leavesOut:
      'the speed of disk and network, many sandboxes that take their shares all at once, and what the kernel counts for ' +
      'a user without regard to sandboxes: buffers of pipes, watches of epoll',
  },
];
