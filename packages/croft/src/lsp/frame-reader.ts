/**
 * Limit of one message. The protocol has none, but parsing a message holds the main thread: 8 MB take about 50 ms. It is
 * some 40,000 references.
 */
export const maxFrameBytes = 8 * 1024 * 1024;
const maxHeaderBytes = 4096;
const headerEnd = Buffer.from('\r\n\r\n');

interface FrameReaderOptions {
  onFrame(body: Buffer): void;
  /** Called once with the fault. Nothing is read after it. */
  onFault(what: string): void;
}

/** Cuts a stream of bytes into messages with a `Content-Length`, as the Language Server Protocol frames them. */
export function createFrameReader({ onFrame, onFault }: FrameReaderOptions): (chunk: Buffer) => void {
  let [parts, size, wanted, isOver]: [Buffer[], number, number | undefined, boolean] = [[], 0, undefined, false];

  const join = (): Buffer => {
    const [only] = parts;
    const joined = parts.length === 1 && only ? only : Buffer.concat(parts);
    parts = [joined];
    return joined;
  };
  const keep = (rest: Buffer) => {
    parts = [rest];
    size = rest.length;
  };
  const fail = (what: string): false => {
    isOver = true;
    parts = [];
    onFault(what);
    return false;
  };

  function readHeader(): boolean {
    const bytes = join();
    const end = bytes.indexOf(headerEnd);
    if (end === -1) return size <= maxHeaderBytes ? false : fail('it sent a header that does not end');
    const length = end > maxHeaderBytes ? undefined : lengthIn(bytes.toString('latin1', 0, end));
    if (length === undefined) return fail('it sent a message without a valid Content-Length');
    if (length > maxFrameBytes) return fail(`it sent a message of ${length} bytes; at most ${maxFrameBytes} are read`);
    wanted = length;
    keep(bytes.subarray(end + headerEnd.length));
    return true;
  }

  function readBody(length: number): boolean {
    if (size < length) return false;
    const bytes = join();
    wanted = undefined;
    keep(bytes.subarray(length));
    onFrame(bytes.subarray(0, length));
    return !isOver;
  }

  return (chunk) => {
    if (isOver) return;
    parts.push(chunk);
    size += chunk.length;
    while (wanted === undefined ? readHeader() : readBody(wanted));
  };
}

function lengthIn(header: string): number | undefined {
  const found = header.split('\r\n').flatMap((line) => /^content-length: *(\d{1,10})$/i.exec(line)?.[1] ?? []);
  return found.length === 1 ? Number(found[0]) : undefined;
}

export function toFrame(message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}
