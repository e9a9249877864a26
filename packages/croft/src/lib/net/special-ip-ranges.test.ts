import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatAddress, parseAddress } from './ip-address.ts';
import { listOwnAddresses, specialRangesOf, unwrapAddress } from './special-ip-ranges.ts';

const kindOf = (address: string) => specialRangesOf(unwrapAddress(parseAddress(address)!))[0]?.kind;

test.each([
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['::1', 'a loopback address'],
  ['0.0.0.0', 'an unspecified address'],
  ['0.1.2.3', 'an unspecified address'],
  ['::', 'an unspecified address'],
  ['10.0.0.1', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.168.1.1', 'a private address'],
  ['fd12::1', 'a private address'],
  ['fec0::1', 'a private address'],
  ['169.254.1.1', 'a link-local address'],
  ['fe80::1', 'a link-local address'],
  ['100.64.0.1', 'a carrier-grade NAT address'],
  ['100.127.255.255', 'a carrier-grade NAT address'],
  ['169.254.169.254', 'a cloud metadata address'],
  ['169.254.170.2', 'a cloud metadata address'],
  ['100.100.100.200', 'a cloud metadata address'],
  ['168.63.129.16', 'a cloud metadata address'],
  ['fd00:ec2::254', 'a cloud metadata address'],
  ['fd20:ce::254', 'a cloud metadata address'],
  ['224.0.0.251', 'a multicast address'],
  ['ff02::fb', 'a multicast address'],
  ['255.255.255.255', 'a broadcast address'],
  ['192.0.2.1', 'a documentation address'],
  ['203.0.113.9', 'a documentation address'],
  ['2001:db8::1', 'a documentation address'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'a Teredo address'],
  ['240.0.0.1', 'a reserved address'],
  ['198.18.0.1', 'a reserved address'],
  ['::2', 'an address outside public IPv6'],
  ['4000::1', 'an address outside public IPv6'],
  ['64:ff9b:1::1', 'an address outside public IPv6'],
])('%s is %s', (address, kind) => {
  expect(kindOf(address)).toBe(kind);
});

test.each(['1.1.1.1', '8.8.8.8', '172.15.255.255', '172.32.0.1', '100.63.255.255', '100.128.0.1', '168.63.129.17'])(
  '%s is public',
  (address) => expect(kindOf(address)).toBeUndefined(),
);

test.each(['2606:4700:4700::1111', '2a00:1450:4001::1', '::ffff:1.1.1.1', '64:ff9b::1.1.1.1', '2002:101:101::'])(
  '%s is public',
  (address) => expect(kindOf(address)).toBeUndefined(),
);

const wrappings: [string, (a: string, b: string) => string][] = [
  ['IPv4-mapped', (a, b) => `::ffff:${a}:${b}`],
  ['IPv4-compatible', (a, b) => `::${a}:${b}`],
  ['IPv4-translated', (a, b) => `::ffff:0:${a}:${b}`],
  ['NAT64', (a, b) => `64:ff9b::${a}:${b}`],
  ['6to4', (a, b) => `2002:${a}:${b}::1234`],
  ['ISATAP', (a, b) => `2a00:1::5efe:${a}:${b}`],
  ['ISATAP with the global bit', (a, b) => `2a00:1::200:5efe:${a}:${b}`],
];

test.each(wrappings)('%s addresses are judged as the IPv4 address they carry', (_, wrap) => {
  // 0.0.x.y in the IPv4-compatible form is `::x:y` and means that IPv6 address.
  const address = fc.nat(0xfffffffe).filter((number) => number > 0xffff);
  fc.assert(
    fc.property(address, (number) => {
      const halves = [number >>> 16, number & 0xffff].map((half) => half.toString(16)) as [string, string];
      const carried = unwrapAddress(parseAddress(wrap(...halves))!);
      expect(formatAddress(carried)).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
      expect(carried & 0xffffffffn).toBe(BigInt(number));
    }),
  );
});

test.each(wrappings)('%s cannot wrap loopback or metadata addresses', (_, wrap) => {
  expect(kindOf(wrap('7f00', '1'))).toBe('a loopback address');
  expect(kindOf(wrap('a9fe', 'a9fe'))).toBe('a cloud metadata address');
});

test('the addresses of this machine are parsed, and none is loopback', () => {
  for (const address of listOwnAddresses()) expect(kindOf(address)).not.toBe('a loopback address');
});
