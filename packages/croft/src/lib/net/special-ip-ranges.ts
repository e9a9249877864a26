import { networkInterfaces } from 'node:os';
import { type Cidr, contains, parseAddress, parseCidr } from './ip-address.ts';

/** A range of addresses that are not public servers. `kind` completes "it is …". */
export interface SpecialRange {
  readonly kind: string;
  readonly cidr: Cidr;
}

/** Follows the IANA special-purpose registries, plus the addresses where clouds serve machine credentials. */
const ranges: Readonly<Record<string, readonly string[]>> = {
  'a cloud metadata address': [
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.0.23', '100.100.100.200', '168.63.129.16'],
    ...['192.0.0.192', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
  ],
  'a loopback address': ['127.0.0.0/8', '::1'],
  'an unspecified address': ['0.0.0.0/8', '::'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'a link-local address': ['169.254.0.0/16', 'fe80::/10'],
  'a carrier-grade NAT address': ['100.64.0.0/10'],
  'a multicast address': ['224.0.0.0/4', 'ff00::/8'],
  'a broadcast address': ['255.255.255.255'],
  'a documentation address': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  'a Teredo address': ['2001::/32'],
  'a reserved address': ['192.0.0.0/24', '192.88.99.0/24', '198.18.0.0/15', '240.0.0.0/4', '2001::/23', '5f00::/16'],
  // Everything but 2000::/3, which is all of public IPv6.
  'an address outside public IPv6': ['::/3', '4000::/2', '8000::/1'],
};

const specialRanges: readonly SpecialRange[] = Object.entries(ranges).flatMap(([kind, texts]) =>
  texts.map((text) => ({ kind, cidr: toCidr(text) })),
);

/** Returns every special range that contains an address, the most informative first; none for a public address. */
export function specialRangesOf(address: bigint): SpecialRange[] {
  return specialRanges.filter(({ cidr }) => contains(cidr, address));
}

/**
 * IPv6 ranges that embed an IPv4 address, and how many bits follow that address. IPv4-mapped addresses are already IPv4
 * here.
 */
const wrappers = [
  { cidr: toCidr('::/96'), shift: 0n },
  { cidr: toCidr('::ffff:0:0:0/96'), shift: 0n },
  { cidr: toCidr('64:ff9b::/96'), shift: 0n },
  { cidr: toCidr('2002::/16'), shift: 80n },
];

/** Returns the embedded IPv4 address at which packets arrive, or the address itself. */
export function unwrapAddress(address: bigint): bigint {
  // `::` and `::1` are in the IPv4-compatible range but embed no IPv4 address.
  if (address <= 0xffffn) return address;
  const shift = wrappers.find(({ cidr }) => contains(cidr, address))?.shift ?? (isIsatap(address) ? 0n : undefined);
  return shift === undefined ? address : (0xffffn << 32n) | ((address >> shift) & 0xffffffffn);
}

function isIsatap(address: bigint): boolean {
  return ((address >> 32n) & 0xfdffffffn) === 0x5efen;
}

/** Returns the non-loopback addresses of this machine. */
export function listOwnAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return all.filter(({ internal, address }) => !internal && parseAddress(address)).map(({ address }) => address);
}

function toCidr(text: string): Cidr {
  const cidr = parseCidr(text);
  if (!cidr) throw new RangeError(`${text} is no range of addresses`);
  return cidr;
}
