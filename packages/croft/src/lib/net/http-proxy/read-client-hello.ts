import type { Socket } from 'node:net';
import { type ClientHello, parseClientHello } from './client-hello.ts';

const maxHelloBytes = 16 * 1024;

interface ClientHelloRead {
  /** All bytes read from the socket. */
  readonly bytes: Buffer;
  readonly hello: ClientHello | undefined;
}

/** Reads until the bytes are a complete hello, cannot become one, end or time out. Leaves the socket paused. */
export function readClientHello(client: Socket, head: Buffer, timeoutMs: number): Promise<ClientHelloRead> {
  return new Promise((resolve) => {
    let bytes: Buffer = Buffer.alloc(0);
    const timer = setTimeout(giveUp, timeoutMs);
    client.on('data', take).once('end', giveUp).once('close', giveUp);
    take(head);

    function take(chunk: Buffer): void {
      bytes = Buffer.concat([bytes, chunk]);
      const hello = parseClientHello(bytes);
      if (hello !== 'incomplete') finish(hello);
      else if (bytes.length > maxHelloBytes) giveUp();
    }
    function giveUp(): void {
      finish(undefined);
    }
    function finish(hello: ClientHello | undefined): void {
      clearTimeout(timer);
      client.off('data', take).off('end', giveUp).off('close', giveUp).pause();
      resolve({ bytes, hello });
    }
  });
}

/** Tells whether the bytes begin with a capital letter, as an HTTP method does. The HTTP parser checks the rest. */
export function isLikeHttp([first = 0]: Buffer): boolean {
  return first >= 0x41 && first <= 0x5a;
}

export function isTls(bytes: Buffer): boolean {
  return bytes[0] === 22;
}
