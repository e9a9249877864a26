import type { ExplainLine, SandboxRules } from './output-line.ts';

const unresolved = new RegExp(
  [
    "Could not resolve|Couldn't resolve|unable to resolve host|failure resolving|failed to lookup address",
    'failure in name resolution|Name or service not known|no such host\\b|UnknownHostException|Unknown host ',
    '\\bEAI_AGAIN\\b|\\bENOTFOUND\\b',
    // Go resolves names itself and finds no DNS server.
    '\\blookup [\\w.-]{1,254} on [\\w.:\\[\\]]{1,60}:53: ',
  ].join('|'),
  'i',
);
const unreachable = /Network is unreachable|\bENETUNREACH\b|^curl: \(7\) Failed to connect to /i;

export const networkClues = [unresolved, unreachable];

/** Words right before a host name, the surest first. */
const beforeHost = [
  /could not resolve host(?:name)?:? ["'‘]?/i,
  /couldn't resolve(?: host)? ["'‘]/i,
  /unable to resolve host(?: address)? ["'‘]?/i,
  /(?:failure resolving|failed to resolve|could not resolve) ["'‘]/i,
  /\b(?:EAI_AGAIN|ENOTFOUND|ENETUNREACH) /,
  /UnknownHostException: |unknown host |unable to look up /i,
  /\blookup (?!address )/,
  /\/dev\/(?:tcp|udp)\//,
  /failed to connect to |\bconnect(?:ing|ion)? to (?:host )?|\bresolving /i,
  /\bhost=["']|\bfor host ["']/,
  /\bdial (?:tcp|udp) \[?/,
  // Skips a user name and password before the host.
  /\bhttps?:\/\/(?:[^\s/@]{1,200}@)?\[?/,
];
const host = /[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}|[\w.-]{1,254}/iy;
/** As in `bash: line 1: example.com: Temporary failure in name resolution`. */
const hostFirst = /(?:^|[: ])([\w-]{1,63}(?:\.[\w-]{1,63}){1,8}): (?:Temporary failure|Name or service)/;
const ownHost = /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|::1?)$/i;

/** Explains a connection without a route. The kernel reports it only to the program. */
export const explainNetwork: ExplainLine = ({ text }, fence) => {
  if (fence.network === 'allow-all' || !networkClues.some((clue) => clue.test(text))) return undefined;
  const target = findHost(text);
  return ownHost.test(target) ? undefined : { layer: 'network', ...toAdvice(target, fence), target };
};

function findHost(text: string): string {
  for (const words of beforeHost) {
    const found = words.exec(text);
    host.lastIndex = found ? found.index + found[0].length : text.length;
    const name = host.exec(text)?.[0].replace(/[.-]+$/, '');
    // A longer text is no host name, and a part of it might be half of a secret.
    if (name && name.length <= 253) return name;
  }
  return hostFirst.exec(text)?.[1] ?? '';
}

function toAdvice(target: string, { network }: SandboxRules) {
  const flag = toFlag(target);
  if (network === 'deny-all') {
    return { rule: 'deny-all', next: `This sandbox has no network. Ask the operator to start croft with ${flag}.` };
  }
  const way = 'Only the proxy in HTTPS_PROXY leads out, to what the operator allows';
  return { rule: 'no-route', next: `${way}: make this program use it, or ask the operator for ${flag}.` };
}

function toFlag(target: string): string {
  if (target.includes(':')) return `--allow-cidr ${target}/128`;
  return /^[\d.]+$/.test(target) ? `--allow-cidr ${target}/32` : `--allow-domain ${target || 'HOST'}`;
}
