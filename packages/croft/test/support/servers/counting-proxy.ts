import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** The messages of a PostgreSQL client that the server answers: `Query` and `Sync`. */
const answered = new Set(['Q', 'S'].map((letter) => letter.charCodeAt(0)));

/**
 * A proxy before a PostgreSQL server that counts the round trips of its clients. A message that a client sends right
 * behind another, before the answer to that one, is in the same round trip.
 */
export async function startCountingProxy(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let roundTrips = 0;
  let isCutting = false;

  const proxy = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const count = createMessageCounter();
    let isWaiting = false;
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
    }
    near.on('data', (bytes) => {
      if (count(bytes) > 0) {
        if (!isWaiting) roundTrips += 1;
        isWaiting = true;
      }
      far.write(bytes);
    });
    far.on('data', (bytes) => {
      isWaiting = false;
      if (isCutting) near.destroy();
      else near.write(bytes);
      isCutting = false;
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const own = new URL(url);
  own.port = String((proxy.address() as AddressInfo).port);

  return {
    url: own.href,
    roundTrips: () => roundTrips,
    /** Closes the connection in place of the next answer: the statement has run, and its client does not know. */
    cutNextAnswer() {
      isCutting = true;
    },
    async [Symbol.asyncDispose]() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Splits the stream of a client into messages: a letter, a length that counts itself, the rest. */
function createMessageCounter(): (bytes: Buffer) => number {
  let rest: Buffer = Buffer.alloc(0);
  // The first message, which begins the connection, has no letter.
  let letterBytes = 0;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let found = 0;
    while (rest.length >= letterBytes + 4) {
      const size = letterBytes + rest.readInt32BE(letterBytes);
      if (rest.length < size) break;
      if (letterBytes === 1 && answered.has(rest[0] ?? 0)) found += 1;
      rest = rest.subarray(size);
      letterBytes = 1;
    }
    return found;
  };
}
