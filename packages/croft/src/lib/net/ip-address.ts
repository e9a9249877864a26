import { isIPv4, isIPv6 } from 'node:net';

/** A block of addresses. `prefix` counts from the top of 128 bits, so that /8 of IPv4 is 104 here. */
export interface Cidr {
  readonly network: bigint;
  readonly prefix: number;
}

const ipv4Space = 0xffffn;
const ipv4Bits = 96;

/**
 * Parses an IPv4 or IPv6 address into one number. IPv4 becomes its IPv4-mapped IPv6 form (`::ffff:0:0/96`), so that two
 * spellings of one address give the same number. Accepts only full forms: no octal, no hex, no short forms, no zone.
 */
export function parseAddress(text: string): bigint | undefined {
  if (isIPv4(text)) return (ipv4Space << 32n) | BigInt(`0x${text.split('.').map(toHexByte).join('')}`);
  if (isIPv6(text) && !text.includes('%')) return parseIPv6(text);
  return undefined;
}

export function formatAddress(address: bigint): string {
  if (isIPv4Address(address)) return [24n, 16n, 8n, 0n].map((shift) => (address >> shift) & 0xffn).join('.');
  const groups = Array.from({ length: 8 }, (_, index) => (address >> BigInt(112 - 16 * index)) & 0xffffn);
  // Formatted by the URL parser, so that every part of the program uses the same spelling.
  return new URL(`http://[${groups.map((group) => group.toString(16)).join(':')}]`).hostname.slice(1, -1);
}

/** Parses `10.0.0.0/8` or `fd00::/8`; a single address is a block of one. Bits behind the prefix are cleared. */
export function parseCidr(text: string): Cidr | undefined {
  const [, written = '', length] = /^([^/]+?)(?:\/(0|[1-9]\d{0,2}))?$/.exec(text) ?? [];
  const address = parseAddress(written);
  if (address === undefined) return undefined;
  const isShort = isIPv4(written);
  const bits = length === undefined ? (isShort ? 32 : 128) : Number(length);
  if (bits > (isShort ? 32 : 128)) return undefined;
  const prefix = isShort ? bits + ipv4Bits : bits;
  return { network: clearTail(address, prefix), prefix };
}

export function formatCidr({ network, prefix }: Cidr): string {
  return `${formatAddress(network)}/${isIPv4Block({ network, prefix }) ? prefix - ipv4Bits : prefix}`;
}

/** Tells whether an address is in a block. A block of IPv6, even `::/0`, contains no IPv4 address. */
export function contains(cidr: Cidr, address: bigint): boolean {
  return isIPv4Block(cidr) === isIPv4Address(address) && clearTail(address, cidr.prefix) === cidr.network;
}

export function isWithin(inner: Cidr, outer: Cidr): boolean {
  return inner.prefix >= outer.prefix && isIPv4Block(inner) === isIPv4Block(outer) && contains(outer, inner.network);
}

function isIPv4Address(address: bigint): boolean {
  return address >> 32n === ipv4Space;
}

function isIPv4Block({ network, prefix }: Cidr): boolean {
  return prefix >= ipv4Bits && isIPv4Address(network);
}

function clearTail(address: bigint, prefix: number): bigint {
  const tail = BigInt(128 - prefix);
  return (address >> tail) << tail;
}

function parseIPv6(text: string): bigint {
  const [head = '', tail = ''] = text.replace(/\d+\.\d+\.\d+\.\d+$/, toGroups).split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const between = Array.from({ length: 8 - before.length - after.length }, () => '0');
  return BigInt(`0x${[...before, ...between, ...after].map((group) => group.padStart(4, '0')).join('')}`);
}

function toGroups(ipv4: string): string {
  return ipv4.split('.').map(toHexByte).join('').replace(/^..../, '$&:');
}

function toHexByte(decimal: string): string {
  return Number(decimal).toString(16).padStart(2, '0');
}
