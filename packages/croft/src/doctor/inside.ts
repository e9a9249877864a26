import { type Check, holds, missing, weaker } from './check.ts';
import type { Host } from './host.ts';
import { explainRefusal } from './refusals.ts';

const toolchains = ['bash', 'git', 'node', 'python3', 'go', 'cargo', 'java', 'php', 'ruby', 'dotnet', 'gcc', 'make'];

/** What a program in a sandbox can say of itself, a line each. */
const interfaces = "sed -n '3,$s/^ *\\([^:]*\\):.*/Interface: \\1/p' /proc/net/dev";
export const fenceScript = "grep -E '^(CapEff|CapPrm|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status";
const script = [
  fenceScript,
  interfaces,
  `for name in ${toolchains.join(' ')}; do command -v $name >/dev/null && echo "Program: $name"; done; true`,
].join('\n');

/** Asks for a host that nobody has and nobody allowed. */
const networkScript = [
  interfaces,
  `exec 3<>"/dev/tcp/127.0.0.1/\${http_proxy##*:}"`,
  "printf 'GET http://croft.invalid/ HTTP/1.1\\r\\nHost: croft.invalid\\r\\nConnection: close\\r\\n\\r\\n' >&3",
  'read -r -t 5 answer <&3; echo "Proxy: $answer"',
].join('\n');

/** Opens a sandbox as agents get it, unless the rows before say that it cannot, and looks around from within. */
export async function checkInside(host: Host, before: readonly Check[]): Promise<Check[]> {
  const init = checkInit(host);
  const lacks = [...before, init].filter(({ state }) => state === 'missing').map(({ name }) => name);
  if (lacks.length > 0) return [init, missing('sandbox', `cannot be opened; see ${lacks.join(', ')}`)];
  const look = await host.runInside(script, 'deny-all');
  if ('reason' in look) return [init, toRefusal(host, look.reason, 'sandbox')];
  return [init, checkFence(look.output), await checkNetwork(host, look.output), checkToolchains(look.output)];
}

function toRefusal(host: Host, reason: string, name: string): Check {
  const { why, fix } = explainRefusal(host, reason);
  return missing(name, `cannot be opened: ${why}`, fix ?? unexplained);
}

const unexplained = { say: 'Report it, with what croft doctor --json says.' };
const alarm = { say: 'Start no agent here, and report it with what croft doctor --prove says.' };

function checkInit(host: Host): Check {
  const problem = host.findInitProblem();
  if (problem === undefined) return holds('init', 'compiled here, and the very one that was compiled');
  return missing('init', problem, { say: 'Compile it.', run: 'npm run setup' });
}

export function checkFence(output: string, name = 'sandbox'): Check {
  const wrong = [
    ...['CapEff', 'CapPrm', 'CapBnd'].filter((set) => !/^0+$/.test(valuesOf(output, set)[0] ?? '')),
    ...(valuesOf(output, 'NoNewPrivs')[0] === '1' ? [] : ['NoNewPrivs']),
    ...(valuesOf(output, 'Seccomp')[0] === '2' ? [] : ['Seccomp']),
  ];
  if (wrong.length === 0) return holds(name, 'opens; no capability, no new privileges, filter loaded');
  return missing(name, `opens, but its fence does not stand: ${wrong.join(', ')}`, alarm);
}

/** The policies that promise something are tried; the third promises nothing. */
async function checkNetwork(host: Host, closed: string): Promise<Check> {
  const look = await host.runInside(networkScript, 'restricted');
  if ('reason' in look) return toRefusal(host, look.reason, 'network');
  const others = valuesOf(closed + look.output, 'Interface').filter((name) => name !== 'lo');
  if (others.length > 0) return missing('network', `does not hold: there is ${others.join(', ')} inside`, alarm);
  const answer = valuesOf(look.output, 'Proxy')[0] ?? '';
  if (!/^HTTP\/1\.1 403/.test(answer))
    return missing('network', `restricted does not refuse: ${answer || 'its proxy says nothing'}`, alarm);
  return holds('network', 'deny-all (loopback alone), restricted (its proxy refused a stranger), allow-all');
}

function checkToolchains(output: string): Check {
  const found = valuesOf(output, 'Program');
  if (found.length > 1) return holds('toolchains', found.join(', '));
  return weaker('toolchains', 'an agent will find none of the usual', {
    say: `Install what your workspaces need, or have it on the PATH that croft is started with: ${toolchains.join(', ')}.`,
  });
}

function valuesOf(output: string, key: string): string[] {
  return [...output.matchAll(new RegExp(`^${key}:\\s*(.*)$`, 'gm'))].map(([, value = '']) => value.trim());
}
