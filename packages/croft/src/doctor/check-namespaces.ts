import { explainRefusal } from './explain-refusal.ts';
import { type Host, type HostUser, isRoot, nobody } from './host.ts';
import { type HostCheck, type HostFix, holds, missing, weaker } from './host-check.ts';

const name = 'namespaces';

/** bwrap arguments with everything that a sandbox needs from the kernel before its init runs, and nothing else. */
const bwrapArguments = [
  ...['--unshare-all', '--unshare-user', '--uid', '1000', '--gid', '1000', '--die-with-parent', '--new-session'],
  ...['--cap-drop', 'ALL', '--cap-add', 'CAP_SYS_ADMIN', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
  ...['--size', '1048576', '--tmpfs', '/tmp'],
];

/** Opens a real sandbox. As root it opens one as another user too, because most workspaces belong to other users. */
export async function checkNamespaces(host: Host): Promise<HostCheck> {
  const program = host.findProgram('bwrap');
  if (!program) return missing(name, 'cannot be tried without bubblewrap');
  const words = await tryNamespaces(host, program);
  if (words !== undefined) {
    const { why, fix } = explain(host, program, words);
    return missing(name, `bubblewrap cannot make a sandbox: ${why}`, fix);
  }
  const others = isRoot(host) ? await tryNamespaces(host, program, nobody) : undefined;
  if (others === undefined) return holds(name, 'user, mount, process, network, IPC, UTS and cgroup namespaces');
  const { why, fix } = explain(host, program, others);
  return weaker(name, `only for workspaces that root owns: ${why}`, fix);
}

/** Returns the error output of bubblewrap, or `undefined` on success. */
async function tryNamespaces(host: Host, program: string, as?: HostUser): Promise<string | undefined> {
  const { code, stderr } = await host.run(
    [program, ...bwrapArguments, '--', host.findProgram('true') ?? '/bin/true'],
    as,
  );
  return code === 0 ? undefined : stderr;
}

function explain(host: Host, program: string, words: string): { readonly why: string; readonly fix: HostFix } {
  const { why, fix } = explainRefusal(host, words);
  const byHand = { say: 'Run this to see the whole error:', run: [program, ...bwrapArguments, '--', 'true'].join(' ') };
  return { why, fix: fix ?? byHand };
}
