import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** The socket on which the init of one container connects to this process. */
export interface InitSocket {
  /** The path of the socket, which is mounted into the container. */
  readonly path: string;
  /**
   * Waits for the init's two connections, then closes the socket: no later connection is accepted, whichever process of
   * the container makes it.
   */
  accept(): Promise<{ readonly socket: Socket; readonly words: Promise<string> }>;
  /** Fails a pending `enter`, and closes every connection that arrived. */
  close(): void;
}

/**
 * Listens for the init of one container. Nobody else can enter `directory`, so only the container with this socket
 * mounted can connect.
 */
export async function listenForInit(directory: string): Promise<InitSocket> {
  const path = join(directory, `${randomUUID().slice(0, 13)}.sock`);
  const arrived: Socket[] = [];
  const both = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    if (arrived.push(socket) === 2) both.resolve();
    if (arrived.length > 2) socket.destroy();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  await chmod(path, 0o666);
  server.unref();
  const close = () => void server.close();
  return {
    path,
    async accept() {
      await both.promise.finally(close);
      // The order of `container_dial` in native/init/enter-container.c.
      const [socket, words] = arrived as [Socket, Socket];
      return { socket, words: text(words).catch(() => '') };
    },
    close() {
      both.reject(new Error('the init of the container did not connect'));
      close();
      for (const socket of arrived) socket.destroy();
    },
  };
}
