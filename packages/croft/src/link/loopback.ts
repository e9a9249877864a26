import { parseAddress } from '../lib/net/ip-address.ts';
import { specialRangesOf } from '../lib/net/ip-ranges.ts';

/** Whether nobody but this machine hears what is said to `host`. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const address = parseAddress(host.replace(/^\[(.*)\]$/, '$1'));
  return address !== undefined && specialRangesOf(address).some(({ kind }) => kind === 'a loopback address');
}
