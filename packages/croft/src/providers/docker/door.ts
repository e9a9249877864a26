import { randomUUID } from 'node:crypto';
import { chmod } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Where the init of one container comes in. */
export interface Door {
  /** To be mounted. */
  readonly path: string;
  /** Nobody comes in after it, also not by a container that was told to try. */
  enter(): Promise<{ readonly socket: Socket; readonly words: Promise<string> }>;
  /** Whoever waits waits no more, and who came in is out. */
  close(): void;
}

/** `directory` is closed to everybody else: whoever has the socket mounted is the one it was made for. */
export async function openDoor(directory: string): Promise<Door> {
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
    async enter() {
      await both.promise.finally(close);
      // `container_dial` of native/container.c comes in this order.
      const [socket, words] = arrived as [Socket, Socket];
      return { socket, words: text(words).catch(() => '') };
    },
    close() {
      both.reject(new Error('the init did not come'));
      close();
      for (const socket of arrived) socket.destroy();
    },
  };
}
