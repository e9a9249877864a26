import { parseAddress } from '../../lib/net/ip-address.ts';
import { specialRangesOf } from '../../lib/net/special-ip-ranges.ts';

/** Whether traffic to `host` never leaves this machine. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = parseAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address !== undefined && specialRangesOf(address).some(({ kind }) => kind === 'a loopback address');
}
