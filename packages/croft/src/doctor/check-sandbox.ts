import { checkInotify, inotifyScript } from './check-inotify.ts';
import { explainRefusal } from './explain-refusal.ts';
import type { Host } from './host.ts';
import { type HostCheck, holds, missing, weaker } from './host-check.ts';

const toolchains = ['bash', 'git', 'node', 'python3', 'go', 'cargo', 'java', 'php', 'ruby', 'dotnet', 'gcc', 'make'];

/** Scripts that print what a program in a sandbox sees, one `Key: value` per line. */
const interfacesScript = "sed -n '3,$s/^ *\\([^:]*\\):.*/Interface: \\1/p' /proc/net/dev";
export const guardsScript = "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status";
const script = [
  guardsScript,
  inotifyScript,
  interfacesScript,
  `for name in ${toolchains.join(' ')}; do command -v $name >/dev/null && echo "Program: $name"; done; true`,
].join('\n');

/** Requests a host that does not exist and that no policy allows. */
const networkScript = [
  interfacesScript,
  `exec 3<>"/dev/tcp/127.0.0.1/\${http_proxy##*:}"`,
  "printf 'GET http://croft.invalid/ HTTP/1.1\\r\\nHost: croft.invalid\\r\\nConnection: close\\r\\n\\r\\n' >&3",
  'read -r -t 5 answer <&3; echo "Proxy: $answer"',
].join('\n');

/**
 * Opens a sandbox as agents get it and examines it from inside. Skipped if an earlier row says that no sandbox can be
 * opened.
 */
export async function checkSandbox(host: Host, before: readonly HostCheck[]): Promise<HostCheck[]> {
  const init = checkInit(host);
  const missingRows = [...before, init].filter(({ state }) => state === 'missing').map(({ name }) => name);
  if (missingRows.length > 0) return [init, missing('sandbox', `cannot be opened; see ${missingRows.join(', ')}`)];
  const probe = await host.runInSandbox(script, 'deny-all');
  if ('reason' in probe) return [init, toRefusal(host, probe.reason, 'sandbox')];
  const [network, inotify] = [await checkNetwork(host, probe.output), checkInotify(host, probe.output)];
  return [init, checkSandboxGuards(probe.output), network, checkToolchains(probe.output), inotify];
}

function toRefusal(host: Host, reason: string, name: string): HostCheck {
  const { why, fix } = explainRefusal(host, reason);
  return missing(name, `cannot be opened: ${why}`, fix ?? unexplained);
}

const unexplained = { say: 'Report it, with what croft doctor --json says.' };
const alarm = { say: 'Start no agent here, and report it with what croft doctor --prove says.' };

function checkInit(host: Host): HostCheck {
  const problem = host.findInitProblem();
  if (problem === undefined) return holds('init', 'there, and unchanged since it was compiled');
  return missing('init', problem, { say: 'Compile it.', run: host.nativeFix });
}

export function checkSandboxGuards(output: string, name = 'sandbox'): HostCheck {
  const wrong = [
    ...['CapEff', 'CapPrm', 'CapBnd'].filter((set) => !/^0+$/.test(valuesOf(output, set)[0] ?? '')),
    ...(valuesOf(output, 'NoNewPrivs')[0] === '1' ? [] : ['NoNewPrivs']),
    ...(valuesOf(output, 'Seccomp')[0] === '2' ? [] : ['Seccomp']),
  ];
  if (wrong.length === 0) return holds(name, 'opens; no capability, no new privileges, filter loaded');
  return missing(name, `opens, but these guards are missing: ${wrong.join(', ')}`, alarm);
}

/** Tests `deny-all` and `restricted`. `allow-all` promises nothing, so there is nothing to test. */
async function checkNetwork(host: Host, closed: string): Promise<HostCheck> {
  const probe = await host.runInSandbox(networkScript, 'restricted');
  if ('reason' in probe) return toRefusal(host, probe.reason, 'network');
  const others = valuesOf(closed + probe.output, 'Interface').filter((name) => name !== 'lo');
  if (others.length > 0) return missing('network', `does not hold: there is ${others.join(', ')} inside`, alarm);
  const answer = valuesOf(probe.output, 'Proxy')[0] ?? '';
  if (!/^HTTP\/1\.1 403/.test(answer))
    return missing('network', `restricted does not refuse: ${answer || 'its proxy says nothing'}`, alarm);
  return holds('network', 'deny-all (loopback alone), restricted (its proxy refused a stranger), allow-all');
}

function checkToolchains(output: string): HostCheck {
  const found = valuesOf(output, 'Program');
  if (found.length > 1) return holds('toolchains', found.join(', '));
  return weaker('toolchains', 'none of the usual programs is installed', {
    say: `Install what your workspaces need, or have it on the PATH that croft is started with: ${toolchains.join(', ')}.`,
  });
}

function valuesOf(output: string, key: string): string[] {
  return [...output.matchAll(new RegExp(`^${key}:\\s*(.*)$`, 'gm'))].map(([, value = '']) => value.trim());
}
