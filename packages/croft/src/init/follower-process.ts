import type { Socket } from 'node:net';
import { spawnProgram } from '../lib/processes/spawn.ts';
import { createFollowChannel, type FollowChannel } from './follow-channel.ts';
import { encodeOpen } from './follow-frames.ts';
import { createInitFrameDecoder, encodeInitFrame, type InitFrame } from './init-frames.ts';

export interface FollowLimits {
  /** Number of changed paths of a tree that are remembered. After more changes the whole tree is read again. */
  readonly paths?: number | undefined;
  /** Number of inotify watches to use; the kernel has its own limit. */
  readonly watches?: number | undefined;
}

export type FollowerProcess = Awaited<ReturnType<typeof openFollowerProcess>>;

/** Thrown when the follower process has ended. The caller can ask a new process the same. */
export class FollowerEnded extends Error {}

/** Starts a follower process. It ends when this process ends, for whatever reason. */
export async function openFollowerProcess(init: string, limits: FollowLimits, onEnd: () => void) {
  const { child, socket } = start(init, limits);
  const channels = new Map<number, FollowChannel>();
  const ready = Promise.withResolvers<void>();
  let nextId = 1;
  let waiting = 0;

  let isOver = false;
  const end = (cause?: unknown) => {
    if (!isOver) onEnd();
    isOver = true;
    const ended = new FollowerEnded('the process that follows file changes has ended; the next call starts a new one', {
      cause,
    });
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

  // Keeps this process alive while a request waits, and not for an idle follower.
  const onWaiting = (added: number) => {
    waiting += added;
    if (waiting > 0) socket?.ref();
    else socket?.unref();
  };

  return {
    /** Follows the tree of an open descriptor, which the follower opens for itself. */
    async open(handle: number, { onChange, onLost }: { onChange(): void; onLost(): void }): Promise<FollowChannel> {
      const id = nextId++;
      const order = encodeOpen(handle);
      const send = (type: number, detail?: number, payload?: Buffer) =>
        void socket?.write(encodeInitFrame(type, id, detail, payload));
      const onClose = () => void channels.delete(id);
      const channel = createFollowChannel({ send, onWaiting, onChange, onLost, onClose });
      channels.set(id, channel);
      // The follower has ended in between, and no further event will report that.
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

function readFrames(socket: Socket, onFrame: (frame: InitFrame) => void): void {
  const decode = createInitFrameDecoder(onFrame);
  socket.on('error', () => {});
  socket.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
}
