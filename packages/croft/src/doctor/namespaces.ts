import { type Check, type Fix, holds, missing, weaker } from './check.ts';
import { type Host, isRoot, nobody, type User } from './host.ts';
import { explainRefusal } from './refusals.ts';

const name = 'namespaces';

/** All that a sandbox asks of the kernel before its init runs, and nothing else. */
const fence = [
  ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
  ...['--size', '1048576', '--tmpfs', '/tmp'],
];

/** Really makes a sandbox; as root also as somebody else, which is who most workspaces belong to. */
export async function checkNamespaces(host: Host): Promise<Check> {
  const program = host.findProgram('bwrap');
  if (!program) return missing(name, 'cannot be tried without bubblewrap');
  const words = await tryOut(host, program);
  if (words !== undefined) {
    const { why, fix } = explain(host, program, words);
    return missing(name, `bubblewrap cannot make a sandbox: ${why}`, fix);
  }
  const others = isRoot(host) ? await tryOut(host, program, nobody) : undefined;
  if (others === undefined) return holds(name, 'user, mount, process, network, IPC, UTS and cgroup namespaces');
  const { why, fix } = explain(host, program, others);
  return weaker(name, `only for workspaces that root owns: ${why}`, fix);
}

/** What it said, if it could not. */
async function tryOut(host: Host, program: string, as?: User): Promise<string | undefined> {
  const { code, stderr } = await host.run([program, ...fence, '--', host.findProgram('true') ?? '/bin/true'], as);
  return code === 0 ? undefined : stderr;
}

function explain(host: Host, program: string, words: string): { readonly why: string; readonly fix: Fix } {
  const { why, fix } = explainRefusal(host, words);
  const byHand = { say: 'See for yourself what it says:', run: [program, ...fence, '--', 'true'].join(' ') };
  return { why, fix: fix ?? byHand };
}
