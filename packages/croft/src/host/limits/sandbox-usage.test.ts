import { expect, test } from 'vitest';
import { parseListeners, readListeningPorts } from './sandbox-usage.ts';

const head = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';

test.each([
  ['IPv4', '   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000', { port: 3000, address: '127.0.0.1' }],
  ['every address', '   1: 00000000:1F90 00000000:0000 0A 00000000:00000000', { port: 8080, address: '0.0.0.0' }],
  [
    'IPv6 loopback',
    '   0: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A',
    { port: 80, address: '::1' },
  ],
  ['every IPv6 address', `   0: ${'0'.repeat(32)}:0016 ${'0'.repeat(32)}:0000 0A`, { port: 22, address: '::' }],
])('a listening socket: %s', (_, line, expected) => {
  expect(parseListeners(`${head}${line}\n`)).toEqual([expected]);
});

test('a connection is no listener', () => {
  expect(parseListeners(`${head}   0: 0100007F:0BB8 0100007F:D431 01 00000000:00000000\n`)).toEqual([]);
});

test('a process in the network of this one has no ports of its own', () => {
  expect(readListeningPorts(process.pid)).toEqual([]);
});
