import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FaultyCable extends AsyncDisposable {
  readonly url: string;
  /** Number of connections so far. */
  count(): number;
  /** Cuts all connections; both ends notice. */
  cut(): void;
  /** From now on the open connections carry nothing, and neither end notices. */
  swallow(): void;
  /** Cuts the connections after this many more bytes, in both directions together. */
  cutAfter(bytes: number): void;
  /** Delivers bytes in pieces of this size, each a moment after the last. */
  split(bytes: number): void;
  /** Leads new connections to another server. */
  aim(target: string): void;
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

/** Starts a TCP relay between a client and a server on loopback that behaves like a bad cable. */
export async function startFaultyCable(target: string): Promise<FaultyCable> {
  let targetPort = new URL(target).port;
  const pairs = new Set<{ readonly sockets: readonly Socket[]; isSwallowing: boolean }>();
  let count = 0;
  let left = Number.POSITIVE_INFINITY;
  let pieceBytes = Number.POSITIVE_INFINITY;

  const server = createServer((near) => {
    const far = connect(Number(targetPort), '127.0.0.1');
    const pair = { sockets: [near, far], isSwallowing: false };
    count += 1;
    pairs.add(pair);
    carry(near, far, pair);
    carry(far, near, pair);
  });
  const carry = (from: Socket, to: Socket, pair: { isSwallowing: boolean }) => {
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('close', () => to.destroy());
    from.on('data', async (bytes: Buffer) => {
      from.pause();
      for (let at = 0; at < bytes.length && !pair.isSwallowing && !to.destroyed; at += pieceBytes) {
        const piece = bytes.subarray(at, Math.min(bytes.length, at + pieceBytes, at + left));
        left -= piece.length;
        if (!to.write(piece)) await Promise.race([once(to, 'drain'), once(to, 'close')]).catch(() => {});
        if (left <= 0) cut();
        if (pieceBytes < bytes.length) await new Promise((on) => setImmediate(on));
      }
      from.resume();
    });
  };
  const cut = () => {
    left = Number.POSITIVE_INFINITY;
    for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    pairs.clear();
  };
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  const refuse = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, count: () => count, cut, refuse, accept: () => listen(port) },
    swallow() {
      for (const pair of pairs) pair.isSwallowing = true;
    },
    cutAfter(bytes) {
      left = bytes;
    },
    aim(other) {
      targetPort = new URL(other).port;
    },
    split(bytes) {
      pieceBytes = bytes;
    },
    [Symbol.asyncDispose]: refuse,
  };
}
