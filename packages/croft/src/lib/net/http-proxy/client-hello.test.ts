import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../../../test/support/expect-cheap.ts';
import { captureHello } from '../../../../test/support/servers/test-proxy.ts';
import { parseClientHello } from './client-hello.ts';

const real = await captureHello('example.com');
const sized = (lengthBytes: number, ...parts: (Buffer | number[])[]) => {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)));
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(content.length, 0, lengthBytes);
  return Buffer.concat([length, content]);
};
const record = (content: Buffer) => Buffer.concat([Buffer.from([22, 3, 1]), sized(2, content)]);
const extension = (type: number, content: Buffer) =>
  Buffer.concat([Buffer.from([type >> 8, type & 255]), sized(2, content)]);
const names = (...list: [type: number, name: string][]) =>
  extension(
    0,
    sized(2, ...list.map(([type, name]) => Buffer.concat([Buffer.from([type]), sized(2, Buffer.from(name))]))),
  );
const message = (...extensions: Buffer[]) => {
  const fixed = [Buffer.alloc(34, 3), sized(1, Buffer.alloc(32)), sized(2, [0x13, 0x01]), sized(1, [0])];
  return Buffer.concat([Buffer.from([1]), sized(3, ...fixed, sized(2, ...extensions))]);
};
const hello = (...extensions: Buffer[]) => record(message(...extensions));
const cut = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );

test('reads the name that OpenSSL sends', () => {
  expect(parseClientHello(real)).toEqual({ serverName: 'example.com', isEncrypted: false });
});

test('reads a hello without a server name', async () => {
  expect(parseClientHello(await captureHello())).toEqual({ serverName: undefined, isEncrypted: false });
  expect(parseClientHello(hello())).toEqual({ serverName: undefined, isEncrypted: false });
});

test('recognises an encrypted hello', () => {
  const encrypted = extension(0xfe0d, Buffer.alloc(100));
  expect(parseClientHello(hello(names([0, 'front.example']), encrypted))).toMatchObject({ isEncrypted: true });
});

test('waits for the rest of a hello at every byte', () => {
  for (let length = 0; length < real.length; length++)
    expect(parseClientHello(real.subarray(0, length))).toBe('incomplete');
});

test.each([1, 2, 3, 5, 7, 100])('joins a hello from records of %i bytes', (size) => {
  const handshake = real.subarray(5);
  const records = Buffer.concat(cut(handshake, size).map(record));
  expect(parseClientHello(records)).toEqual({ serverName: 'example.com', isEncrypted: false });
  expect(parseClientHello(records.subarray(0, -1))).toBe('incomplete');
});

test('ignores bytes after the hello', () => {
  const early = Buffer.concat([real, Buffer.from([20, 3, 3, 0, 1, 1, 23, 3, 3])]);
  expect(parseClientHello(early)).toMatchObject({ serverName: 'example.com' });
});

describe('is not a hello', () => {
  const valid = message(names([0, 'a.example']));
  test.each([
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n')],
    ['SSH', Buffer.from('SSH-2.0-OpenSSH_9.0\r\n')],
    ['one wrong byte', Buffer.from([0x47])],
    ['SSL 2', Buffer.from([0x80, 0x2e, 1, 0, 2])],
    ['another major version', Buffer.from([22, 2])],
    ['an alert', Buffer.from([21, 3, 3, 0, 2, 2, 49])],
    ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
    ['a record too long', Buffer.from([22, 3, 1, 0x40, 0x01, 1])],
    ['another handshake message', record(Buffer.from([2, 0, 0, 0]))],
    [
      'an alert between two halves',
      Buffer.concat([record(valid.subarray(0, 9)), Buffer.from([21, 3, 3, 0, 2, 2, 49])]),
    ],
    ['two names', hello(names([0, 'a.example'], [0, 'b.example']))],
    ['two lists of names', hello(names([0, 'a.example']), names([0, 'b.example']))],
    ['an empty list of names', hello(names())],
    ['an empty name', hello(names([0, '']))],
    ['a name of another type', hello(names([1, 'a.example']))],
    ['a name with a NUL', hello(names([0, 'a.example\0.evil.org']))],
    ['a name that is not ASCII', hello(names([0, 'exa\u{ad}mple.com']))],
    ['a name with a space', hello(names([0, 'a.example b']))],
    ['an extension longer than the list', hello(Buffer.from([0, 0, 0xff, 0xff, 1]))],
    ['a list of names longer than its extension', hello(extension(0, Buffer.from([0, 9, 0, 0, 1, 97])))],
    ['a name longer than its list', hello(extension(0, Buffer.from([0, 4, 0, 0, 9, 97])))],
    ['bytes after the extensions', record(Buffer.concat([Buffer.from([1]), sized(3, valid.subarray(4), [0])]))],
    [
      'a session id longer than the message',
      record(Buffer.concat([Buffer.from([1]), sized(3, Buffer.alloc(35, 255))])),
    ],
    ['an empty message', record(Buffer.from([1, 0, 0, 0]))],
  ])('%s', (_, bytes) => {
    expect(parseClientHello(bytes)).toBeUndefined();
  });
});

const isAnAnswer = (answer: ReturnType<typeof parseClientHello>) =>
  answer === undefined || answer === 'incomplete' || typeof answer.isEncrypted === 'boolean';

test('any bytes give a result', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom('', '16', '160301', '160301004001'),
      (bytes, start) => {
        expect(isAnAnswer(parseClientHello(Buffer.concat([Buffer.from(start, 'hex'), bytes])))).toBe(true);
      },
    ),
    { numRuns: 3000 },
  );
});

test('a hello with any bytes changed gives a result, and an incomplete one never changes its name later', () => {
  const change = fc.record({ at: fc.nat(real.length - 1), to: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), fc.nat(real.length), (changes, length) => {
      const bytes = Buffer.from(real);
      for (const { at, to } of changes) bytes[at] = to;
      const whole = parseClientHello(bytes);
      const part = parseClientHello(bytes.subarray(0, length));
      expect(isAnAnswer(whole)).toBe(true);
      if (part !== 'incomplete') expect(part).toEqual(whole);
    }),
    { numRuns: 5000 },
  );
});

test('a hello of 16 KiB that comes byte by byte, in records of one byte, costs little', async () => {
  const bytes = Buffer.concat(cut(message(extension(21, Buffer.alloc(3000))), 1).map(record)).subarray(0, 16 * 1024);
  const parseAll = () => {
    for (let length = 0; length < bytes.length; length += 16)
      if (parseClientHello(bytes.subarray(0, length)) !== 'incomplete') throw new Error(`complete at ${length}`);
  };
  await expectCheap(parseAll, 60);
});
