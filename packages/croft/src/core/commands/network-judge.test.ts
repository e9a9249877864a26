import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createNetworkJudge, judgeAddress, judgeHost } from './network-judge.ts';
import { NetworkPolicy } from './network-policy.ts';

const restrict = (domains: string[] = [], cidrs: string[] = []) =>
  NetworkPolicy.parse({ mode: 'restricted', domains, cidrs });
const denyAll = NetworkPolicy.parse({ mode: 'deny-all' });
const allowAll = NetworkPolicy.parse({ mode: 'allow-all' });
const allowed = { allowed: true };
const deniedBy = (rule: string) => expect.objectContaining({ allowed: false, rule });

describe('names', () => {
  test.each([
    ['example.com', 'example.com'],
    ['example.com', 'EXAMPLE.COM'],
    ['example.com', 'example.com.'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['*.example.com', 'a.example.com'],
    ['*.example.com', 'a.b.example.com'],
  ])('%s allows %s', (entry, host) => {
    expect(judgeHost(restrict([entry]), host, 443)).toEqual(allowed);
  });

  test.each([
    ['example.com', 'a.example.com'],
    ['example.com', 'evilexample.com'],
    ['example.com', 'example.com.evil.org'],
    ['example.com', 'example.co'],
    ['*.example.com', 'example.com'],
    ['*.example.com', 'evilexample.com'],
    ['*.example.com', 'a.example.com.evil.org'],
    ['example.com', 'exаmple.com'], // Cyrillic а
  ])('%s does not allow %s', (entry, host) => {
    expect(judgeHost(restrict([entry]), host, 443)).toEqual(deniedBy('domains'));
  });

  test.each(['user@example.com', 'example.com@evil.org', 'example.com:443', 'example.com/', 'example.com\0', '', '*'])(
    '%j is not a host name',
    (host) => {
      expect(judgeHost(restrict(['example.com', '*.example.com']), host, 443)).toEqual(deniedBy('host-name'));
    },
  );

  test('an empty list allows nothing', () => {
    expect(judgeHost(restrict(), 'example.com', 443)).toEqual(deniedBy('domains'));
    expect(judgeHost(NetworkPolicy.parse({ mode: 'restricted' }), '1.1.1.1', 443)).toEqual(deniedBy('cidrs'));
  });

  test('the ports are 80 and 443, or the port in the entry', () => {
    const policy = restrict(['example.com', '*.example.com:8443']);
    expect(judgeHost(policy, 'example.com', 80)).toEqual(allowed);
    expect(judgeHost(policy, 'example.com', 443)).toEqual(allowed);
    expect(judgeHost(policy, 'example.com', 22)).toEqual(deniedBy('ports'));
    expect(judgeHost(policy, 'a.example.com', 8443)).toEqual(allowed);
    expect(judgeHost(policy, 'a.example.com', 443)).toEqual(deniedBy('ports'));
  });

  test('a refusal names the entry that would allow the host', () => {
    expect(judgeHost(restrict(), 'Example.com', 443)).toMatchObject({
      reason: "example.com is not an allowed domain. Ask the operator to add it to the sandbox's domains.",
    });
    expect(judgeHost(restrict(['example.com']), 'example.com', 22)).toMatchObject({
      reason: expect.stringContaining('add example.com:22 to the domains'),
    });
    expect(judgeHost(restrict(), '10.1.2.3', 5432)).toMatchObject({
      reason: expect.stringContaining('add 10.1.2.3/32:5432 to the cidrs'),
    });
  });

  test('a name is allowed only if it is below an allowed one', () => {
    const label = fc.constantFrom('a', 'b', 'com', 'example', 'evilexample', 'xexample', 'www');
    const name = fc.array(label, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(name, name, fc.boolean(), (entry, host, isWild) => {
        fc.pre(!isWild || entry.length > 1);
        const policy = restrict([`${isWild ? '*.' : ''}${entry.join('.')}`]);
        const tail = host.slice(-entry.length).join('.') === entry.join('.');
        const expected = tail && (isWild ? host.length > entry.length : host.length === entry.length);
        expect(judgeHost(policy, host.join('.'), 443).allowed).toBe(expected);
      }),
    );
  });
});

describe('addresses in place of names', () => {
  const open = restrict(['example.com'], ['93.184.216.0/24', '10.1.2.3/32:5432', 'fd00:1::/32']);

  test.each([
    ['93.184.216.34', 443],
    ['::ffff:93.184.216.34', 443],
    ['10.1.2.3', 5432],
    ['fd00:1::5', 80],
    ['[fd00:1::5]', 80],
  ])('%s on %i is allowed by a CIDR', (host, port) => {
    expect(judgeHost(open, host, port)).toEqual(allowed);
    expect(judgeAddress(open, host.replace(/[[\]]/g, ''), port)).toEqual(allowed);
  });

  test.each([
    ['1.1.1.1', 443],
    ['93.184.217.1', 443],
    ['93.184.216.34', 853],
    ['10.1.2.3', 443],
    ['10.1.2.4', 5432],
    ['::1', 443],
    ['127.0.0.1', 80],
  ])('%s on %i is refused', (host, port) => {
    expect(judgeHost(open, host, port)).toEqual(deniedBy('cidrs'));
  });

  test.each(['0177.0.0.1', '0x7f.1', '2130706433', '127.1', '[127.0.0.1]', '１２７.0.0.1', '::1%lo', '127.0.0.1.'])(
    '%s is refused as a spelling of 127.0.0.1, even where 127.0.0.1 is allowed',
    (host) => {
      expect(judgeHost(restrict([], ['127.0.0.0/8', '::1']), host, 80)).toEqual(deniedBy('host-name'));
      expect(judgeHost(allowAll, host, 80)).toEqual(deniedBy('host-name'));
      expect(judgeAddress(allowAll, host, 80)).toEqual(deniedBy('address'));
    },
  );

  test('a CIDR that covers private and public addresses allows only the public ones', () => {
    const wide = restrict([], ['0.0.0.0/0', '::/0']);
    expect(judgeHost(wide, '1.1.1.1', 443)).toEqual(allowed);
    expect(judgeHost(wide, '2606:4700:4700::1111', 443)).toEqual(allowed);
    for (const host of ['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1', 'fd00::1', '::ffff:127.0.0.1']) {
      expect(judgeHost(wide, host, 443)).toEqual(deniedBy('address'));
    }
  });
});

describe('addresses that names resolve to', () => {
  const names = restrict(['example.com']);

  test.each(['93.184.216.34', '2606:4700:4700::1111', '::ffff:1.1.1.1', '64:ff9b::101:101'])(
    '%s is allowed',
    (address) => {
      expect(judgeAddress(names, address, 443)).toEqual(allowed);
    },
  );

  test.each([
    ...['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.0.1', '169.254.169.254', '100.64.0.1', '100.100.100.200'],
    ...[
      '168.63.129.16',
      '0.0.0.0',
      '255.255.255.255',
      '224.0.0.1',
      '192.0.2.1',
      '::',
      '::1',
      'fd00:ec2::254',
      'fe80::1',
    ],
    ...[
      'ff02::1',
      '::ffff:127.0.0.1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::',
      '2001:0:1::',
      'not an address',
    ],
  ])('%s is refused in every mode', (address) => {
    for (const policy of [names, allowAll, restrict(['example.com'], ['0.0.0.0/0', '::/0'])]) {
      expect(judgeAddress(policy, address, 443)).toEqual(deniedBy('address'));
    }
  });

  test('a private network needs a CIDR within it; metadata services and this machine need their own', () => {
    const own = ['10.0.0.5', '192.0.0.1'];
    const inside = restrict(['git.corp.example'], ['10.0.0.0/8', '169.254.0.0/16']);
    expect(judgeAddress(inside, '10.0.0.4', 443, own)).toEqual(allowed);
    expect(judgeAddress(inside, '::ffff:10.0.0.4', 443, own)).toEqual(allowed);
    expect(judgeAddress(inside, '10.0.0.4', 22, own)).toEqual(deniedBy('address'));
    expect(judgeAddress(inside, '10.0.0.5', 443, own)).toEqual(deniedBy('address'));
    expect(judgeAddress(inside, '169.254.1.1', 443, own)).toEqual(allowed);
    expect(judgeAddress(inside, '169.254.169.254', 443, own)).toEqual(deniedBy('address'));
    const exact = restrict([], ['10.0.0.5', '169.254.169.254/32']);
    expect(judgeAddress(exact, '10.0.0.5', 443, own)).toEqual(allowed);
    expect(judgeAddress(exact, '169.254.169.254', 443, own)).toEqual(allowed);
  });

  test('a public address of this machine is refused in every spelling', () => {
    const judge = createNetworkJudge({ policy: names, hostAddresses: () => ['93.184.216.34', '2a00:1::1'] });
    for (const address of ['93.184.216.34', '::ffff:93.184.216.34', '2a00:1:0::1', '64:ff9b::5db8:d822']) {
      expect(judge.address(address, 443)).toMatchObject({
        rule: 'address',
        reason: expect.stringContaining('machine'),
      });
    }
    expect(judge.address('93.184.216.35', 443)).toEqual(allowed);
  });

  test('a refused address is given as the CIDR that would allow it, ready to copy', () => {
    expect(judgeAddress(names, '169.254.169.254', 443)).toMatchObject({
      reason:
        "169.254.169.254 is a cloud metadata address. Ask the operator to add 169.254.169.254/32 to the sandbox's cidrs.",
    });
  });
});

test('deny-all refuses everything, allow-all every address that is not public', () => {
  expect(judgeHost(denyAll, 'example.com', 443)).toEqual(deniedBy('deny-all'));
  expect(judgeAddress(denyAll, '1.1.1.1', 443)).toEqual(deniedBy('deny-all'));
  expect(judgeHost(allowAll, 'example.com', 22)).toEqual(allowed);
  expect(judgeHost(allowAll, '1.1.1.1', 53)).toEqual(allowed);
  expect(judgeAddress(allowAll, '1.1.1.1', 53)).toEqual(allowed);
});

test('a wrapped address gets the verdict of the address inside', () => {
  const policies = [restrict([], ['10.0.0.0/8', '93.184.216.0/24']), restrict(), allowAll];
  const address = fc.oneof(fc.ipV4(), fc.constantFrom('127.0.0.1', '10.9.8.7', '169.254.169.254', '93.184.216.34'));
  fc.assert(
    fc.property(address, fc.constantFrom(...policies), (ipv4, policy) => {
      fc.pre(!ipv4.startsWith('0.0.'));
      const plain = judgeAddress(policy, ipv4, 443).allowed;
      const hex = ipv4.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
      const [high, low] = [hex.slice(0, 2).join(''), hex.slice(2).join('')];
      const spellings = [
        `::ffff:${ipv4}`,
        `::FFFF:${high}:${low}`,
        `::${ipv4}`,
        `64:ff9b::${ipv4}`,
        `2002:${high}:${low}::1`,
      ];
      for (const spelling of spellings) expect(judgeAddress(policy, spelling, 443).allowed).toBe(plain);
    }),
  );
});
