import { BlockList, isIPv4 } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contains, formatAddress, formatCidr, isWithin, parseAddress, parseCidr } from './ip-address.ts';

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6');
const block = fc.oneof(
  fc.tuple(fc.ipV4(), fc.nat(32)).map(([address, bits]) => `${address}/${bits}`),
  fc.tuple(fc.ipV6(), fc.nat(128)).map(([address, bits]) => `${address}/${bits}`),
);

test.each([
  ['1.2.3.4', '::ffff:1.2.3.4'],
  ['127.0.0.1', '::FFFF:7f00:1'],
  ['127.0.0.1', '0:0:0:0:0:ffff:127.0.0.1'],
  ['::1', '0000:0000:0000:0000:0000:0000:0000:0001'],
  ['fd00::', 'FD00:0:0::0'],
  ['64:ff9b::7f00:1', '64:ff9b::127.0.0.1'],
])('%s and %s are the same address', (one, other) => {
  expect(parseAddress(one)).toBe(parseAddress(other));
});

test.each([
  ...['0177.0.0.1', '0x7f.0.0.1', '2130706433', '127.1', '127.0.0.01', '127.0.0.1.', ' 127.0.0.1', '127.0.0.256'],
  ...['１２７.0.0.1', '[::1]', '::1%lo', 'fe80::1%eth0', '1::2::3', '::ffff:0177.0.0.1', '', 'localhost'],
])('%j is not an address', (text) => {
  expect(parseAddress(text)).toBeUndefined();
});

test('any address can be written and read back', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (address) => {
      expect(parseAddress(formatAddress(address))).toBe(address);
    }),
  );
});

test('agrees with node:net about the addresses in a block', () => {
  // Half of the addresses are taken from the block; otherwise hardly any would be in it.
  const pair = block.chain((text) => fc.tuple(fc.constant(text), fc.oneof(fc.ipV4(), fc.ipV6(), neighbourOf(text))));
  fc.assert(
    fc.property(pair, ([text, address]) => {
      const [network = '', bits] = text.split('/');
      const list = new BlockList();
      list.addSubnet(network, Number(bits), familyOf(network));
      const cidr = parseCidr(text)!;
      // Node's BlockList differs here: a block of IPv6 contains IPv4 addresses, and a block of IPv4 no mapped addresses
      // in another spelling.
      fc.pre(familyOf(network) === familyOf(address) && !/^[0:]*(ffff)?:/i.test(`${network} ${address}`));
      expect(contains(cidr, parseAddress(address)!)).toBe(list.check(address, familyOf(address)));
    }),
    { numRuns: 3000 },
  );
});

function neighbourOf(text: string) {
  const { network, prefix } = parseCidr(text)!;
  return fc.bigInt({ min: 0n, max: 2n ** BigInt(128 - prefix) - 1n }).map((tail) => formatAddress(network | tail));
}

test('a block can be written and read back', () => {
  fc.assert(
    fc.property(block, (text) => {
      const cidr = parseCidr(text)!;
      expect(parseCidr(formatCidr(cidr))).toEqual(cidr);
      expect(isWithin(cidr, cidr)).toBe(true);
    }),
  );
});

test.each([
  ['10.1.2.3', '10.1.2.3/32'],
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['::1', '::1/128'],
  ['FD00:1::/8', 'fd00::/8'],
  ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
])('%s is the block %s', (text, canonical) => {
  expect(formatCidr(parseCidr(text)!)).toBe(canonical);
});

test.each(['10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/8/8', '10/8', '/8', '*', ''])(
  '%j is not a block',
  (text) => {
    expect(parseCidr(text)).toBeUndefined();
  },
);

test('a block of IPv6 never holds an IPv4 address', () => {
  expect(contains(parseCidr('::/0')!, parseAddress('127.0.0.1')!)).toBe(false);
  expect(isWithin(parseCidr('10.0.0.0/8')!, parseCidr('::/0')!)).toBe(false);
  expect(isWithin(parseCidr('0.0.0.0/0')!, parseCidr('10.0.0.0/8')!)).toBe(false);
});
