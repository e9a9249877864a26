export interface ClientHello {
  /** The name as it was sent; `undefined` if the hello names no server. */
  readonly serverName: string | undefined;
  /** Whether Encrypted Client Hello is used: it may hide another server name. */
  readonly isEncrypted: boolean;
}

const handshakeRecord = 22;
const clientHello = 1;
const extensionType = { serverName: 0, encryptedClientHello: 0xfe0d };
const recordHeadBytes = 5;
const maxRecordBytes = 16_384;

/**
 * Parses the start of a TLS connection. Returns `incomplete` if more bytes could complete a hello, `undefined` if none
 * could. Strict where TLS parsers are known to differ: a hello with two names or two name lists is invalid.
 */
export function parseClientHello(bytes: Buffer): ClientHello | 'incomplete' | undefined {
  const message = readHandshake(bytes);
  if (message === undefined || message === 'incomplete') return message;
  const extensions = readExtensions(message);
  if (extensions === undefined) return undefined;
  const list = extensions.get(extensionType.serverName);
  const serverName = list && readServerName(list);
  if (list && serverName === undefined) return undefined;
  return { serverName, isEncrypted: extensions.has(extensionType.encryptedClientHello) };
}

/** Returns the body of the first handshake message, joined from its records. Later messages are ignored. */
function readHandshake(bytes: Buffer): Buffer | 'incomplete' | undefined {
  const message = Buffer.alloc(bytes.length);
  let filled = 0;
  for (let at = 0; at < bytes.length; ) {
    const record = readRecord(bytes.subarray(at));
    if (record === undefined || record === 'incomplete') return record;
    filled += record.copy(message, filled);
    at += recordHeadBytes + record.length;
    if (message[0] !== clientHello) return undefined;
    const end = filled < 4 ? Number.POSITIVE_INFINITY : 4 + message.readUIntBE(1, 3);
    if (filled >= end) return message.subarray(4, end);
  }
  return 'incomplete';
}

/** Returns the content of the first record, as far as it has arrived. */
function readRecord(bytes: Buffer): Buffer | 'incomplete' | undefined {
  if (bytes[0] !== handshakeRecord || (bytes[1] ?? 3) !== 3) return undefined;
  if (bytes.length < recordHeadBytes) return 'incomplete';
  const length = bytes.readUInt16BE(3);
  if (length === 0 || length > maxRecordBytes) return undefined;
  return bytes.length === recordHeadBytes ? 'incomplete' : bytes.subarray(recordHeadBytes, recordHeadBytes + length);
}

function readExtensions(message: Buffer): Map<number, Buffer> | undefined {
  const reader = createReader(message);
  // Version and random; then session id, cipher suites and compression methods, each with its length.
  reader.take(34);
  reader.takeSized(1);
  reader.takeSized(2);
  reader.takeSized(1);
  const list = createReader(reader.isAtEnd() ? Buffer.alloc(0) : reader.takeSized(2));
  const extensions = new Map<number, Buffer>();
  while (!list.isAtEnd()) {
    const type = list.takeNumber(2);
    const content = list.takeSized(2);
    if (extensions.has(type)) return undefined;
    extensions.set(type, content);
  }
  return reader.isBroken() || list.isBroken() || !reader.isAtEnd() ? undefined : extensions;
}

function readServerName(extension: Buffer): string | undefined {
  const reader = createReader(extension);
  const list = createReader(reader.takeSized(2));
  const type = list.takeNumber(1);
  const name = list.takeSized(2);
  const isOne = reader.isAtEnd() && list.isAtEnd() && !reader.isBroken() && !list.isBroken();
  const text = name.toString('latin1');
  return isOne && type === 0 && /^[!-~]+$/.test(text) ? text : undefined;
}

/** Reads from the front. After a read beyond the end, the reader is broken and returns nothing more. */
function createReader(bytes: Buffer) {
  let at = 0;
  let broken = false;

  function take(length: number): Buffer {
    const taken = bytes.subarray(at, at + length);
    at += length;
    if (taken.length === length) return taken;
    broken = true;
    at = bytes.length;
    return Buffer.alloc(0);
  }
  function takeNumber(length: number): number {
    const taken = take(length);
    return taken.length === 0 ? 0 : taken.readUIntBE(0, length);
  }
  return {
    take,
    takeNumber,
    takeSized: (lengthBytes: number) => take(takeNumber(lengthBytes)),
    isAtEnd: () => at >= bytes.length,
    isBroken: () => broken,
  };
}
