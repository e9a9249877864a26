import type { Socket } from 'node:net';
import { spawnProgram } from '../lib/spawn.ts';
import { type Channel, createChannel } from './follow-channel.ts';
import { encodeOpen } from './follow-frames.ts';
import { createDecoder, encode, type Frame } from './frames.ts';

export interface FollowLimits {
  /** Changed paths of a tree that are remembered. After more, all are looked at. */
  readonly paths?: number | undefined;
  /** Watches taken of the kernel, which has a limit of its own. */
  readonly watches?: number | undefined;
}

export type FollowLine = Awaited<ReturnType<typeof openFollowLine>>;

/** The process has ended: another can be asked the same. */
export class LineEnded extends Error {}

/** Starts a follower, which ends with us, however that happens. */
export async function openFollowLine(init: string, limits: FollowLimits, onEnd: () => void) {
  const { child, socket } = start(init, limits);
  const channels = new Map<number, Channel>();
  const ready = Promise.withResolvers<void>();
  let nextId = 1;
  let waiting = 0;

  let isOver = false;
  const end = (cause?: unknown) => {
    if (!isOver) onEnd();
    isOver = true;
    const ended = new LineEnded('what follows files has ended; ask again, and another begins', { cause });
    ready.reject(ended);
    for (const [id, channel] of channels) {
      channels.delete(id);
      channel.lose(ended);
    }
  };
  child.once('error', end);
  socket?.once('close', () => end());
  if (socket)
    readFrames(socket, (frame) => (frame.id === 0 ? ready.resolve() : channels.get(frame.id)?.onFrame(frame)));
  await ready.promise;
  child.unref();
  socket?.unref();

  // We must not end while somebody waits for an answer, nor stay for a process that has nothing to do.
  const onWaiting = (added: number) => {
    waiting += added;
    if (waiting > 0) socket?.ref();
    else socket?.unref();
  };

  return {
    /** Of an open handle of ours, which it opens for itself. */
    async open(handle: number, { onChange, onLost }: { onChange(): void; onLost(): void }): Promise<Channel> {
      const id = nextId++;
      const order = encodeOpen(handle);
      const send = (type: number, detail?: number, payload?: Buffer) =>
        void socket?.write(encode(type, id, detail, payload));
      const onClose = () => void channels.delete(id);
      const channel = createChannel({ send, onWaiting, onChange, onLost, onClose });
      channels.set(id, channel);
      // It ended in between: nobody will tell.
      if (isOver) end();
      await channel.open(order).catch((thrown) => {
        onClose();
        throw thrown;
      });
      return channel;
    },
  };
}

function start(init: string, { paths = 65_536, watches = 2 ** 31 }: FollowLimits) {
  const argv = [init, '--follow', String(paths), String(watches)] as const;
  const child = spawnProgram(argv, { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  return { child, socket: child.stdio[3] as Socket | undefined };
}

function readFrames(socket: Socket, onFrame: (frame: Frame) => void): void {
  const decode = createDecoder(onFrame);
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
}
