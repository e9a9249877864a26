import { z } from 'zod';
import { canonicalHost, isAddress } from '../../lib/net/host-name.ts';
import { formatCidr, parseCidr } from '../../lib/net/ip-address.ts';

const maxEntries = 1000;

const Domain = z.string().transform((text, context) => {
  const [, written = '', port] = /^(.*?)(?::([1-9]\d{0,4}))?$/s.exec(text) ?? [];
  const name = canonicalHost(written.replace(/^\*\./, ''));
  const problem = findDomainProblem(written, name, port);
  if (problem === undefined) return `${written.startsWith('*.') ? '*.' : ''}${name}${port ? `:${port}` : ''}`;
  context.addIssue({ code: 'custom', message: `${quote(text)} ${problem}` });
  return z.NEVER;
});

const CidrEntry = z.string().transform((text, context) => {
  const [, block = text, port] = /^(.*\/\d+):([1-9]\d{0,4})$/.exec(text) ?? [];
  const cidr = parseCidr(block);
  if (cidr && isPort(port)) return `${formatCidr(cidr)}${port ? `:${port}` : ''}`;
  const message = `${quote(text)} is not a CIDR such as 10.1.0.0/16, fd00::/8 or 10.1.2.3/32:5432`;
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/**
 * Hosts that a sandbox may reach. `example.com` is that host alone; `*.example.com` is every host below it, without
 * itself; an empty list allows nothing. A CIDR allows connections by address, including private addresses in it. An
 * entry covers ports 80 and 443, or the one port that it ends in: `example.com:8443`, `10.1.2.3/32:5432`.
 */
export const NetworkPolicy = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.literal('deny-all') }),
  z.strictObject({
    mode: z.literal('restricted'),
    domains: z.array(Domain).max(maxEntries).default([]),
    cidrs: z.array(CidrEntry).max(maxEntries).default([]),
    /** No CIDR opens private addresses: for users who do not own this machine and its network. */
    onlyPublic: z.boolean().optional(),
  }),
  // Every public host through the proxy, and no private address.
  z.strictObject({ mode: z.literal('public') }),
  z.strictObject({ mode: z.literal('allow-all') }),
]);
export type NetworkPolicy = z.output<typeof NetworkPolicy>;

function findDomainProblem(written: string, name: string | undefined, port: string | undefined): string | undefined {
  if (/^\*[.*]*$/.test(written)) return 'would allow every domain; name the domains, or use the mode allow-all';
  if (parseCidr(written) || (name !== undefined && isAddress(name))) return 'is an address; put it among the cidrs';
  if (written.startsWith('.')) return `begins with a dot; write *${written} for every host below it`;
  if (/[/@?#]/.test(written)) return 'is not a domain; write the host alone, without scheme, user or path';
  if (name === undefined) return 'is not a domain such as example.com, *.example.com or example.com:8443';
  if (written.startsWith('*.') && !name.includes('.')) return 'would allow a whole top-level domain; name the domains';
  return isPort(port) ? undefined : 'has a port above 65535';
}

function isPort(text: string | undefined): boolean {
  return text === undefined || Number(text) <= 65_535;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}
