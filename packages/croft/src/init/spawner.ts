import { closeSync, fstatSync, openSync, readlinkSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../lib/files/temporary-directory.ts';
import { spawnProgram } from '../lib/processes/spawn.ts';
import { createInitFrameDecoder, encodeInitFrame, fromInit, toInit } from './init-frames.ts';
import { createSpawnJobs, type SpawnJob } from './spawn-jobs.ts';

const dialWithinMs = 10_000;
/** O_PATH of Linux, which Node does not export. */
const O_PATH = 0o10000000;

/** A request to start a program; `native/box/spawner-jobs.h` is the other side. */
export interface SpawnRequest {
  readonly argv: readonly [string, ...string[]];
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** An open descriptor of this process. The child has it as descriptor 6. */
  readonly directoryFd: number;
  /** Files of control groups, which the child has open for writing from descriptor 7 on. */
  readonly groups: readonly string[];
  /** Whether the child waits at descriptor 5 until `openGate` is called. */
  readonly hasGate: boolean;
}

/** A running program: it has an empty environment, works in `/` and leads its own session. */
export interface Spawned extends Omit<SpawnJob, 'id'> {
  /** The other end of the program's descriptor 3. */
  readonly socket: Socket;
  openGate(): void;
  /** Kills the program and its process group. */
  kill(): void;
}

export type Spawner = ReturnType<typeof createSpawner>;

/**
 * Starts programs through one small process, because forking a process as large as the server takes milliseconds in
 * which the server does nothing else. The spawner starts with the first request and ends with this process, for
 * whatever reason.
 */
export function createSpawner(findInit: () => string) {
  let opening: Promise<SpawnerProcess> | undefined;
  const forget = () => {
    opening = undefined;
  };
  const open = async () => {
    opening ??= openSpawnerProcess(findInit(), forget).catch((thrown) => {
      forget();
      throw thrown;
    });
    return await opening;
  };
  return {
    /** Starts the small process ahead of the first request. If that fails, the request is told, and tries again. */
    open: () => void open().catch(() => {}),
    /** Throws if nothing can be started. Failures of the program itself are reported by its end. */
    async start(request: SpawnRequest): Promise<Spawned> {
      const order = encodeRequest(request);
      return await (await open()).start(order);
    },
  };
}

type SpawnerProcess = Awaited<ReturnType<typeof openSpawnerProcess>>;

async function openSpawnerProcess(init: string, onEnd: () => void) {
  const directory = makeTemporaryDirectory('spawner');
  const path = join(directory, 'socket');
  const child = spawnProgram([init, '--spawn', path], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const control = child.stdio[3] as Socket | undefined;
  const ready = Promise.withResolvers<void>();
  // Keeps this process alive while a program runs, and not for an idle spawner.
  const jobs = createSpawnJobs((isBusy) => void (isBusy ? control?.ref() : control?.unref()));
  const end = (cause?: unknown) => {
    onEnd();
    ready.reject(new Error('the process that starts sandboxes has ended', { cause }));
    jobs.finishAll();
  };
  child.once('error', end);
  control?.once('close', end);
  if (control) readFrames(control, (frame) => (frame.type === fromInit.ready ? ready.resolve() : jobs.onFrame(frame)));
  // The socket's name is removed at once: nothing is left behind, and no other process finds the socket.
  const listenerFd = await ready.promise
    .then(() => openSync(path, O_PATH))
    .finally(() => removeTemporaryDirectory(directory));
  control?.once('close', () => closeSync(listenerFd));
  child.unref();
  control?.unref();

  return {
    async start(order: Buffer): Promise<Spawned> {
      const socket = await dial(`/proc/self/fd/${listenerFd}`);
      const { id, infoText, ended } = jobs.add();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const send = (type: number) => void control?.write(encodeInitFrame(type, id));
      const kill = () => {
        socket.destroy();
        if (jobs.has(id)) send(toInit.kill);
      };
      socket.write(encodeInitFrame(toInit.start, id, 0, order));
      // The spawner has ended while the socket was connecting, and no further event will report that.
      if (control?.destroyed) jobs.finishAll();
      return {
        socket,
        infoText,
        // Resolves only after the socket has closed, so that a reader has received everything.
        ended: ended.then(async (words) => {
          if (socket.readableFlowing === null) socket.destroy();
          await closed;
          return words;
        }),
        kill,
        openGate: () => send(toInit.credit),
      };
    },
  };
}

function readFrames(control: Socket, onFrame: Parameters<typeof createInitFrameDecoder>[0]): void {
  const decode = createInitFrameDecoder(onFrame);
  control.on('error', () => {});
  control.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      control.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
}

/** Connects to a socket, and tries again while its queue is full (EAGAIN). */
async function dial(path: string): Promise<Socket> {
  for (const until = Date.now() + dialWithinMs; ; await delay(5)) {
    const socket = connect(path);
    const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      socket.on('error', resolve).once('connect', () => resolve(undefined));
    });
    if (!failure) return socket;
    if (failure.code !== 'EAGAIN' || Date.now() > until) throw failure;
  }
}

function encodeRequest({ argv, owner, directoryFd, groups, hasGate }: SpawnRequest): Buffer {
  const { dev, ino } = fstatSync(directoryFd, { bigint: true });
  const directoryFields = [directoryFd, readlinkSync(`/proc/self/fd/${directoryFd}`), `${dev}:${ino}`];
  const head = [owner?.uid ?? '', owner?.gid ?? '', hasGate ? 'gate' : '', ...directoryFields, groups.length];
  const texts = [...head.map(String), ...groups, ...argv];
  if (texts.some((text) => text.includes('\0'))) throw new RangeError('an argument holds a NUL byte');
  return Buffer.from(`${texts.join('\0')}\0`);
}
