import { closeSync, fstatSync, openSync, readlinkSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { makeOwnDirectory } from '../lib/own-directory.ts';
import { spawnProgram } from '../lib/spawn.ts';
import { createDecoder, encode, fromInit, toInit } from './frames.ts';
import { createSpawnJobs, type SpawnJob } from './spawn-jobs.ts';

const dialWithinMs = 10_000;
/** Node does not name it. */
const O_PATH = 0o10000000;

/** `native/jobs.h` is the other side. */
export interface SpawnRequest {
  readonly argv: readonly [string, ...string[]];
  readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  /** An open handle of ours. The child has it as 6. */
  readonly directory: number;
  /** Files of control groups, which it has from 7 on, open for writing. */
  readonly groups: readonly string[];
  /** Whether it has something to wait for, as 5. */
  readonly hasGate: boolean;
}

/** A program under way, with nothing of our environment, in `/`, in a session of its own. */
export interface Spawned extends Omit<SpawnJob, 'id'> {
  /** Its handle 3. */
  readonly socket: Socket;
  openGate(): void;
  /** Ends it and its group. */
  kill(): void;
}

export type Spawner = ReturnType<typeof createSpawner>;

/**
 * Starts programs by way of a small process: to fork one as large as this takes milliseconds in which nothing else is
 * done here. It begins with the first request and ends with us, however that happens.
 */
export function createSpawner(findInit: () => string) {
  let opening: Promise<Line> | undefined;
  const forget = () => {
    opening = undefined;
  };
  return {
    /** Throws when nothing can be started. What a program itself cannot do is told by its end. */
    async start(request: SpawnRequest): Promise<Spawned> {
      const order = encodeRequest(request);
      opening ??= openLine(findInit(), forget);
      return await (await opening).start(order);
    },
  };
}

type Line = Awaited<ReturnType<typeof openLine>>;

async function openLine(init: string, onEnd: () => void) {
  const directory = makeOwnDirectory('spawner');
  const path = join(directory, 'socket');
  const child = spawnProgram([init, '--spawn', path], { env: {}, stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const control = child.stdio[3] as Socket | undefined;
  const ready = Promise.withResolvers<void>();
  // We must not end while something is under way, nor stay for a process that has nothing to do.
  const jobs = createSpawnJobs((isBusy) => void (isBusy ? control?.ref() : control?.unref()));
  const end = (cause?: unknown) => {
    onEnd();
    ready.reject(new Error('what starts sandboxes has ended', { cause }));
    jobs.finishAll();
  };
  child.once('error', end);
  control?.once('close', end);
  if (control) readFrames(control, (frame) => (frame.type === fromInit.ready ? ready.resolve() : jobs.onFrame(frame)));
  // What has no name cannot be left behind, and nobody else finds it.
  const door = await ready.promise
    .then(() => openSync(path, O_PATH))
    .finally(() => rmSync(directory, { recursive: true, force: true }));
  control?.once('close', () => closeSync(door));
  child.unref();
  control?.unref();

  return {
    async start(order: Buffer): Promise<Spawned> {
      const socket = await dial(`/proc/self/fd/${door}`);
      const { id, told, gone } = jobs.add();
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const send = (type: number) => void control?.write(encode(type, id));
      const kill = () => {
        socket.destroy();
        if (jobs.has(id)) send(toInit.kill);
      };
      socket.write(encode(toInit.start, id, 0, order));
      // It ended while we dialled: nobody will tell.
      if (control?.destroyed) jobs.finishAll();
      return {
        socket,
        told,
        // Whoever reads from it has read all, and knows that it ended.
        gone: gone.then(async (words) => {
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

function readFrames(control: Socket, onFrame: Parameters<typeof createDecoder>[0]): void {
  const decode = createDecoder(onFrame);
  control.on('error', () => {});
  control.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      control.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
}

/** A queue that is full is not so for long. */
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

function encodeRequest({ argv, owner, directory, groups, hasGate }: SpawnRequest): Buffer {
  const { dev, ino } = fstatSync(directory, { bigint: true });
  const place = [directory, readlinkSync(`/proc/self/fd/${directory}`), `${dev}:${ino}`];
  const head = [owner?.uid ?? '', owner?.gid ?? '', hasGate ? 'gate' : '', ...place, groups.length];
  const texts = [...head.map(String), ...groups, ...argv];
  if (texts.some((text) => text.includes('\0'))) throw new RangeError('an argument holds a NUL byte');
  return Buffer.from(`${texts.join('\0')}\0`);
}
