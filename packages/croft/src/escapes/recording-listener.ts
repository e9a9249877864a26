import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { pipeline, type Readable } from 'node:stream';
import { pause } from './probe-neighbour-under-load.ts';
import type { Problem } from './to-verdict.ts';

const ownWords = 'from the host itself';
const waitMs = 3000;
const maxAddresses = 6;

export type Listener = Awaited<ReturnType<typeof listenAt>>;

/**
 * Listens on an address of this machine, by TCP and by UDP on the same port, and records what comes from this machine
 * itself. Answers every connection with `answer`, which `words.answer` can change.
 */
export async function listenAt(address: string, answer = '') {
  const heard: string[] = [];
  const words: { answer: string | (() => Readable) } = { answer };
  const own = new Set(ownAddresses());
  // Other machines may connect too; their connections do not count.
  const record = (from: string | undefined, text: string) => own.has(from ?? '') && heard.push(text);
  const server = createServer((socket) => {
    const { remoteAddress } = socket;
    record(remoteAddress, 'a connection');
    socket.on('data', (chunk) => record(remoteAddress, chunk.toString('latin1'))).on('error', () => {});
    socket.once('data', () => {
      if (typeof words.answer === 'string') socket.end(words.answer);
      else pipeline(words.answer(), socket, () => {});
    });
  });
  await once(server.listen(0, address), 'listening');
  const { port } = server.address() as AddressInfo;
  const datagrams = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  datagrams.on('message', (message, { address: from }) => record(from, String(message)));
  await once(datagrams.bind(port, address), 'listening').catch((thrown) => {
    server.close();
    throw thrown;
  });

  return {
    ...{ address, port, heard, words },
    /** Describes what arrived from anyone but this process. Throws if not even this process's own message arrives. */
    async findHeard(): Promise<Problem[]> {
      const caller = connect(port, address, () => caller.end(ownWords)).on('error', () => {});
      datagrams.send(ownWords, port, address);
      await mustReceiveOwn(heard);
      const strange = heard.splice(0).filter((text) => text !== ownWords);
      // One of the connections is made by this process itself, as a test.
      return strange.length > 1 ? [`${address} port ${port} was reached`] : [];
    },
    async [Symbol.asyncDispose]() {
      server.close();
      datagrams.close();
    },
  };
}

/** Listens on up to `maxAddresses` addresses of this machine on which it can reach itself. */
export async function listenEverywhere(answer = ''): Promise<Listener[]> {
  const listeners: Listener[] = [];
  for (const address of ownAddresses().slice(0, maxAddresses)) {
    const listener = await listenAt(address, answer).catch(() => undefined);
    const isHeard = await listener?.findHeard().catch(() => undefined);
    if (listener && isHeard) listeners.push(listener);
    else await listener?.[Symbol.asyncDispose]();
  }
  if (listeners.length === 0) throw new Error('this machine does not receive its own messages at any address');
  return listeners;
}

/** Returns loopback addresses first, then external ones. */
function ownAddresses(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const outer = all.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'));
  const loopback = all.filter(({ internal }) => internal);
  return [...new Set([...loopback, ...outer].map(({ address }) => address))];
}

/**
 * Waits until this process's own messages arrived by TCP and by UDP. Everything sent before them has arrived then, too.
 */
async function mustReceiveOwn(heard: readonly string[]): Promise<void> {
  const endAt = performance.now() + waitMs;
  while (heard.filter((text) => text === ownWords).length < 2) {
    if (performance.now() > endAt) throw new Error('this machine does not receive its own messages');
    await pause(5);
  }
}
