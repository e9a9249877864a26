import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { parseAddress } from '../../../lib/net/ip-address.ts';
import { listOwnAddresses, specialRangesOf, unwrapAddress } from '../../../lib/net/special-ip-ranges.ts';

interface AddressRules {
  readonly allowPrivate: boolean;
  readonly isPlain: boolean;
}

const openable = new Set(['a loopback address', 'a private address', 'a carrier-grade NAT address']);

/**
 * Returns why a connection to this address is not allowed, or `undefined`. The text completes the sentence "the
 * endpoint …".
 */
export function judgeAddress(address: string, { allowPrivate, isPlain }: AddressRules): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined) return 'leads to no address';
  const actual = unwrapAddress(parsed);
  const [special] = specialRangesOf(actual);
  if (special && !(allowPrivate && openable.has(special.kind))) return `leads to ${special.kind}`;
  if (!special && isPlain) return 'must be an https URL, because it leads to a public address';
  const isOwn = listOwnAddresses().some((own) => parseAddress(own) === actual);
  return isOwn && !allowPrivate ? 'leads to this machine itself' : undefined;
}

/** The host resolves only to addresses that are not allowed. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Looks names up like the system does, and leaves out addresses that are not allowed. */
export function createLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => judgeAddress(address, rules) === undefined);
      const [first] = allowed;
      if (!first) return callback(new RefusedAddress(judgeAddress(addresses[0]?.address ?? '', rules)), []);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
