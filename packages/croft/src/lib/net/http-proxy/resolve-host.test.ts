import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createHostResolver } from './resolve-host.ts';

const types = { 1: 'A', 28: 'AAAA' } as Record<number, string>;

/** Starts a DNS server on loopback that answers these records, by name and type. Without records it never answers. */
async function startDns(records?: Record<string, number[][]>) {
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const question = readQuestion(query);
    asked.push(question.text);
    if (records) socket.send(toReply(query, question.end, records[question.text] ?? []), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { asked, server: `127.0.0.1:${socket.address().port}`, [Symbol.dispose]: () => void socket.close() };
}

function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { text: `${labels.join('.')} ${types[query.readUInt16BE(at + 1)]}`, end: at + 5 };
}

function toReply(query: Buffer, end: number, addresses: number[][]): Buffer {
  const head = Buffer.from(query.subarray(0, end));
  // Response code: no error, or no such name.
  head.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(addresses.length, 6);
  head.writeUInt16BE(0, 10);
  const answers = addresses.map((bytes) =>
    Buffer.from([0xc0, 12, 0, bytes.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
  );
  return Buffer.concat([head, ...answers]);
}

const loopback6 = [...Array(15).fill(0), 1];

test('finds every address of either family', async () => {
  using dns = await startDns({
    'good.test A': [
      [1, 1, 1, 1],
      [10, 0, 0, 1],
    ],
    'good.test AAAA': [loopback6],
  });
  expect(await createHostResolver(2000, [dns.server])('good.test')).toEqual(['1.1.1.1', '10.0.0.1', '::1']);
});

test('one family is enough', async () => {
  using dns = await startDns({ 'good.test AAAA': [loopback6] });
  expect(await createHostResolver(2000, [dns.server])('good.test')).toEqual(['::1']);
});

test('asks for exactly the given name', async () => {
  using dns = await startDns({});
  await expect(createHostResolver(2000, [dns.server])('good')).rejects.toThrow();
  expect(dns.asked.toSorted()).toEqual(['good A', 'good AAAA']);
});

test('a DNS server that does not answer is given up in time', async () => {
  using dns = await startDns();
  const startedAt = performance.now();
  await expect(createHostResolver(400, [dns.server])('good.test')).rejects.toThrow();
  // Without the limit a lookup takes some fifteen seconds to fail.
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
