import { constants } from 'node:os';
import { type Duplex, Readable, Writable } from 'node:stream';
import { AppError } from '@croft/protocol';
import type { CommandSpec, Exit, Running } from '../core/commands/sandbox.ts';
import {
  createDecoder,
  encode,
  encodeStart,
  type Frame,
  fromInit,
  type StartRequest,
  toInit,
  wireVersion,
} from './frames.ts';

/** How much of one stream may be on its way or waiting for a reader. */
const windowBytes = 256 * 1024;
const readyWithinMs = 10_000;

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

export interface InitClientOptions {
  /** Who opened the sandbox, for those who are told that it ended. */
  readonly provider?: string;
  readonly socket: Duplex;
  readonly limits: readonly (number | undefined)[];
  readonly workspacePath: string;
  /** Of every command; its own come on top. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the sandbox may have ended by itself, if that can be told. */
  explainEnd?(): string | undefined;
  /** Told of system calls that were refused, by name, once each while a command runs. */
  onRefused?(call: string): void;
}

export type InitClient = Awaited<ReturnType<typeof connectInit>>;

interface Command {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly onFrame: (frame: Frame) => void;
  fail(reason: AppError): void;
}

/** Speaks to the init of one sandbox. Resolves when it has loaded its fence and is ready. */
export async function connectInit(options: InitClientOptions) {
  const { socket, limits, workspacePath, environment, onRefused, explainEnd, provider = 'bubblewrap' } = options;
  const unavailable = (reason: string) => new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider } });
  const commands = new Map<number, Command>();
  const ready = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let nextId = 1;

  const decode = createDecoder((frame) => {
    if (frame.type === fromInit.ready) return becomeReady(frame);
    if (frame.type === fromInit.refused) return onRefused?.(frame.payload.toString('latin1'));
    commands.get(frame.id)?.onFrame(frame);
  });
  socket.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
  // The reason is told by whoever finds its command gone.
  socket.on('error', () => {});
  socket.on('close', () => {
    const why = explainEnd?.();
    const gone = unavailable(why === undefined ? 'the sandbox has ended' : `the sandbox has ended: ${why}`);
    ready.reject(gone);
    for (const command of commands.values()) command.fail(gone);
    commands.clear();
    closed.resolve();
  });

  const timer = setTimeout(() => ready.reject(unavailable('the sandbox did not become ready')), readyWithinMs);
  await ready.promise.finally(() => clearTimeout(timer));
  return { start, closed: closed.promise, close: () => socket.destroy() };

  function becomeReady({ payload }: Frame): void {
    if (payload.readUInt32LE(0) === wireVersion) ready.resolve();
    else ready.reject(unavailable('the init of the sandbox is of another version'));
  }

  function start(spec: CommandSpec): Running {
    spec.signal.throwIfAborted();
    if (socket.destroyed) throw unavailable('the sandbox has ended');
    const id = nextId++;
    // Before anything waits for it: a command that cannot be written down is never started.
    const order = encodeOrder(id, {
      argv: spec.argv,
      directory: spec.directory ?? workspacePath,
      environment: { ...environment, ...spec.environment },
      hasInput: spec.hasInput ?? false,
      isMerged: spec.isMerged ?? false,
      terminal: spec.terminal,
      creditBytes: windowBytes,
      limits,
    });
    const { running, command } = createRunning(id, (frame) => socket.write(frame), spec.signal);
    commands.set(id, command);
    if (!spec.hasInput && !spec.terminal) running.stdin.destroy();
    const forget = () => commands.delete(id);
    running.exit.then(forget, forget);
    socket.write(order);
    return running;
  }
}

function encodeOrder(id: number, request: StartRequest): Buffer {
  try {
    return encodeStart(id, request);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${cause.message}`, { cause });
  }
}

function createRunning(id: number, send: (frame: Buffer) => void, signal: AbortSignal) {
  const exit = Promise.withResolvers<Exit>();
  const stdout = createOutput((bytes) => send(encode(toInit.credit, id, 1, toUint32(bytes))));
  const stderr = createOutput((bytes) => send(encode(toInit.credit, id, 2, toUint32(bytes))));
  const input = createInput(id, send);
  const kill = () => send(encode(toInit.kill, id));
  signal.addEventListener('abort', kill, { once: true });

  const end = () => {
    signal.removeEventListener('abort', kill);
    stdout.push(null);
    stderr.push(null);
    input.close();
  };
  const command: Command = {
    stdout,
    stderr,
    onFrame({ type, detail, payload }) {
      if (type === fromInit.output) (detail === 1 ? stdout : stderr).push(payload);
      else if (type === fromInit.inputTaken) input.taken(payload.readUInt32LE(0));
      else if (type === fromInit.exit) {
        end();
        exit.resolve(toExit(payload));
      } else if (type === fromInit.failed) command.fail(cannotStart(payload.readInt32LE(0)));
    },
    fail(reason) {
      end();
      exit.reject(reason);
    },
  };
  const running: Running = {
    stdin: input.stream,
    stdout,
    stderr,
    exit: exit.promise,
    kill,
    signal: (name) => send(encode(toInit.signal, id, constants.signals[name])),
    resize: ({ rows, columns }) =>
      send(encode(toInit.resize, id, 0, Buffer.from(Uint16Array.of(rows, columns).buffer))),
  };
  return { running, command };
}

/** Gives credit for what a reader took, so that a program waits for a reader and our memory stays bounded. */
function createOutput(giveCredit: (bytes: number) => void): Readable {
  const stream = new Readable({ highWaterMark: windowBytes, read() {} });
  let owed = 0;
  const push = stream.push.bind(stream);
  stream.push = (chunk: Buffer | null) => {
    const hasRoom = push(chunk);
    owed += chunk?.length ?? 0;
    if (hasRoom || stream.destroyed) settle();
    return hasRoom;
  };
  stream._read = settle;
  // Who stopped reading waits for the end all the same, and that comes after everything that was written.
  stream.once('close', settle);
  return stream;

  function settle(): void {
    if (owed < windowBytes / 4) return;
    giveCredit(owed);
    owed = 0;
  }
}

function createInput(id: number, send: (frame: Buffer) => void) {
  let room = windowBytes;
  let waiting: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: windowBytes,
    async write(chunk: Buffer, _encoding, done) {
      for (let from = 0; from < chunk.length; ) {
        if (room === 0) await new Promise<void>((resolve) => (waiting = resolve));
        if (stream.destroyed) return done();
        const part = chunk.subarray(from, from + Math.min(room, 64 * 1024));
        room -= part.length;
        from += part.length;
        send(encode(toInit.input, id, 0, part));
      }
      done();
    },
    final(done) {
      send(encode(toInit.endInput, id));
      done();
    },
  });
  // A program that ended takes no more, which is its right.
  stream.on('error', () => {});
  return {
    stream,
    taken(bytes: number): void {
      room += bytes;
      waiting?.();
      waiting = undefined;
    },
    close(): void {
      stream.destroy();
      waiting?.();
    },
  };
}

function toExit(payload: Buffer): Exit {
  const [code, signal] = [payload.readInt32LE(0), payload.readInt32LE(4)];
  return {
    code: code === -1 ? null : code,
    signal: signal === 0 ? null : (signalNames.get(signal) ?? `signal ${signal}`),
    usage: {
      userMs: Number(payload.readBigUInt64LE(8)) / 1000,
      systemMs: Number(payload.readBigUInt64LE(16)) / 1000,
      maxRssBytes: Number(payload.readBigUInt64LE(24)) * 1024,
    },
  };
}

const startFailures: ReadonlyMap<number, string> = new Map([
  [constants.errno.ENOENT, 'not found'],
  [constants.errno.EACCES, 'not executable'],
  [constants.errno.EAGAIN, 'as many processes run already as may; end some of them'],
]);

function cannotStart(errno: number): AppError {
  const reason = startFailures.get(errno) ?? `error ${errno}`;
  return new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${reason}`, { details: { errno } });
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
