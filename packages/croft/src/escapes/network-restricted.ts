import {
  attemptRestrictedNetwork,
  bracket,
  get,
  type RestrictedAttempt,
  toAuthority,
  tunnelTo,
} from './attempt-restricted-network.ts';
import type { Escape } from './escape.ts';
import type { Listener } from './recording-listener.ts';

const clouds = ['169.254.169.254', '169.254.170.2', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254'];
const nearby = [
  '10.0.0.1',
  '172.16.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '224.0.0.251',
  'fe80::1',
  '::',
];
const wrapped = [
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::1',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
];
const spelled = [
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '127.1',
  '127.0.1',
  '0177.1',
  '127.0.0.1.',
  '127.0.0.01',
  '[127.0.0.1]',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
];
const named = ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'localhost.localdomain', 'ip6-localhost'];
const resolvers = ['1.1.1.1', '8.8.8.8', '9.9.9.9', '2606:4700:4700::1111'];

/** Attacks on a restricted policy by the server that a request names. */
export const networkRestricted: readonly Escape[] = [
  restricted('E62', 'an empty list, taken for all', {
    policy: () => ({ domains: [], cidrs: [] }),
    hasControl: false,
    requests: ({ allowed, closed }) => [allowed, ...closed].map(toAuthority).flatMap(both),
  }),
  restricted('E64', 'an allowed name that leads to a closed address', {
    policy: ({ closed }) => ({ domains: closed.map(({ port }) => `localhost:${port}`), cidrs: [] }),
    hasControl: false,
    mayFail: true,
    requests: ({ closed }) => closed.flatMap(({ port }) => both(`localhost:${port}`)),
  }),
  restricted('E65', 'this machine, its neighbours and its cloud, by an entry that is too wide', {
    policy: ({ allowed, closed }) => ({
      domains: [],
      cidrs: [
        '0.0.0.0/0',
        '::/0',
        ...[allowed, ...closed].flatMap(({ port }) => [`0.0.0.0/0:${port}`, `::/0:${port}`]),
      ],
    }),
    hasControl: false,
    requests: ({ allowed, closed }) => [
      ...[...clouds, ...nearby].map((address) => get(bracket(address))),
      ...[allowed, ...closed].map(toAuthority).flatMap(both),
      ...[allowed, ...closed].flatMap(({ port }) => [get(`0.0.0.0:${port}`), get(`[::]:${port}`)]),
    ],
  }),
  restricted('E66', 'IPv6 that wraps an IPv4 address', {
    policy: ({ allowed, closed }) => ({
      domains: [],
      cidrs: [`127.0.0.1/32:${allowed.port}`, ...closed.map(({ port }) => `::/0:${port}`)],
    }),
    requests: ({ other }) => wrapped.flatMap((address) => both(`[${address}]:${other.port}`)),
  }),
  restricted('E67', 'other spellings of an address, and a user before the host', {
    requests: ({ allowed, other }) => [
      ...spelled.flatMap((host) => both(`${host}:${other.port}`)),
      ...[`${toAuthority(allowed)}@${toAuthority(other)}`, `a:b@${toAuthority(other)}`].map((text) => get(text)),
      ...['#', '\\', '%40', ';', '?'].map((sign) =>
        get(`${toAuthority(allowed)}${sign}@${toAuthority(other)}`, toAuthority(other)),
      ),
      get(`${toAuthority(other)}`, toAuthority(other)).replace('http://', 'HTTP:\\\\'),
    ],
  }),
  restricted('E68', 'names that only look like an allowed one', {
    policy: ({ allowed }) => ({ domains: ['good.example', '*.deep.example'], cidrs: [`127.0.0.1/32:${allowed.port}`] }),
    requests: () =>
      [
        'evilgood.example',
        'good.example.evil.test',
        'x.good.example',
        'deep.example',
        'evildeep.example',
        'example',
        'good.example\0.evil.test',
        'good．example.evil.test',
      ].flatMap(both),
  }),
  restricted('E70', 'an address instead of a name', {
    policy: ({ allowed }) => ({ domains: ['good.example'], cidrs: [`127.0.0.1/32:${allowed.port}`] }),
    requests: ({ closed }) =>
      [...resolvers.map((address) => `${bracket(address)}:443`), ...closed.map(toAuthority)].flatMap(both),
  }),
  restricted('E74', 'a resolver of somebody else, over HTTPS or TLS', {
    requests: () => [
      ...resolvers.flatMap((address) => [443, 853].map((port) => tunnelTo(`${bracket(address)}:${port}`))),
      ...['dns.google', 'cloudflare-dns.com', 'dns.quad9.net'].flatMap((name) =>
        [443, 853].map((port) => tunnelTo(`${name}:${port}`)),
      ),
      get('dns.google'),
    ],
  }),
  restricted('E75', 'a program that does not ask the proxy', {
    async further(fixture, { allowed, closed }) {
      const servers = [allowed, ...closed];
      await fixture.run(servers.map(dial).join('\n'));
      return (await Promise.all(servers.map((server) => server.findHeard()))).flat();
    },
  }),
  restricted('E76b', 'other servers of this machine, by name and by port', {
    requests: ({ allowed, closed }) => [
      ...closed.map(toAuthority).flatMap(both),
      ...closed.flatMap(({ port }) => named.map((name) => get(`${name}:${port}`))),
      ...named.map((name) => tunnelTo(`${name}:${allowed.port}`)),
    ],
  }),
];

function restricted(id: string, title: string, attempt: RestrictedAttempt): Escape {
  return { id, title, guards: ['network'], attempt: (fixture) => attemptRestrictedNetwork(fixture, attempt) };
}

function both(authority: string): string[] {
  return [get(authority), tunnelTo(authority)];
}

function dial({ address, port }: Listener): string {
  const ways = ['tcp', 'udp'].map((way) => `timeout 2 bash -c 'echo x > /dev/${way}/${address}/${port}' 2>/dev/null`);
  return ways.join('; ');
}
