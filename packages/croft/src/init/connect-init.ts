import { constants } from 'node:os';
import { type Duplex, Readable, Writable } from 'node:stream';
import { getSystemErrorName } from 'node:util';
import { AppError } from '@croft/protocol';
import { type CommandSpec, type ProgramExit, plainCommandHint, type RunningProgram } from '../core/commands/sandbox.ts';
import {
  createInitFrameDecoder,
  encodeInitFrame,
  encodeStart,
  fromInit,
  type InitFrame,
  type StartRequest,
  toInit,
  wireVersion,
} from './init-frames.ts';
import { createOutputRateLimit, type OutputRateLimit } from './output-rate-limit.ts';

/** Bytes of one stream that may be in transit or wait for a reader. */
const windowBytes = 256 * 1024;
const readyWithinMs = 10_000;

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

interface InitClientOptions {
  /** Name of the provider that opened the sandbox, for error messages. */
  readonly provider?: string;
  readonly socket: Duplex;
  readonly limits: readonly (number | undefined)[];
  readonly workspacePath: string;
  /** Variables of every command; its own variables are added to them. */
  readonly environment: Readonly<Record<string, string>>;
  /** Returns why the sandbox may have ended by itself, if that is known. */
  explainEnd?(): string | undefined;
  /** Called with the name of a refused system call, once each while a command runs. */
  onRefused?(call: string): void;
  /** Called for a control file whose change was refused or held back, once each while a command runs. */
  onGuardedControlFile?(held: GuardedControlFile): void;
}

/** A report of the init about a control file; `native/init/guard/hold-by-mount.h` is the other side. */
interface GuardedControlFile {
  readonly rule: string;
  /** Path below the workspace. */
  readonly path: string;
  readonly detail: string;
}

export type InitClient = Awaited<ReturnType<typeof connectInit>>;

interface Command {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly onFrame: (frame: InitFrame) => void;
  fail(reason: AppError): void;
}

/** Connects to the init of one sandbox. Resolves when the init has applied its restrictions and is ready. */
export async function connectInit(options: InitClientOptions) {
  const { socket, limits, workspacePath, environment, explainEnd, provider = 'bubblewrap' } = options;
  const unavailable = (reason: string) => new AppError('E_SANDBOX_UNAVAILABLE', reason, { details: { provider } });
  const commands = new Map<number, Command>();
  const ready = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const pace = createOutputRateLimit();
  let nextId = 1;

  const decode = createInitFrameDecoder((frame) => {
    if (frame.type === fromInit.ready) return becomeReady(frame);
    if (frame.type === fromInit.refused) return options.onRefused?.(frame.payload.toString('latin1'));
    if (frame.type === fromInit.guarded) return options.onGuardedControlFile?.(toGuardedControlFile(frame.payload));
    commands.get(frame.id)?.onFrame(frame);
  });
  socket.on('data', (bytes: Buffer) => {
    try {
      decode(bytes);
    } catch (thrown) {
      socket.destroy(thrown instanceof Error ? thrown : undefined);
    }
  });
  // The `close` handler reports the reason to each command.
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

  function becomeReady({ payload }: InitFrame): void {
    if (payload.readUInt32LE(0) === wireVersion) ready.resolve();
    else ready.reject(unavailable('the init of the sandbox has another version than this server'));
  }

  function start(spec: CommandSpec): RunningProgram {
    spec.signal.throwIfAborted();
    if (socket.destroyed) throw unavailable('the sandbox has ended');
    const id = nextId++;
    // Encoded first, so that a command that cannot be encoded is never registered.
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
    const { running, command } = createRunning(id, { send: (frame) => socket.write(frame), pace }, spec.signal);
    commands.set(id, command);
    if (!spec.hasInput && !spec.terminal) running.stdin.destroy();
    const forget = () => commands.delete(id);
    running.exit.then(forget, forget);
    socket.write(order);
    return running;
  }
}

function toGuardedControlFile(payload: Buffer): GuardedControlFile {
  const [rule = '', path = '', detail = ''] = payload.toString('utf8').split('\0');
  return { rule, path, detail };
}

function encodeOrder(id: number, request: StartRequest): Buffer {
  try {
    return encodeStart(id, request);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${cause.message}`, {
      cause,
      hint: plainCommandHint,
    });
  }
}

interface Connection {
  send(frame: Buffer): void;
  readonly pace: OutputRateLimit;
}

function createRunning(id: number, { send, pace }: Connection, signal: AbortSignal) {
  const exit = Promise.withResolvers<ProgramExit>();
  const giveCredit = (stream: number) => (bytes: number) =>
    pace.wait(bytes, () => send(encodeInitFrame(toInit.credit, id, stream, toUint32(bytes))));
  const [stdout, stderr] = [createOutput(giveCredit(1)), createOutput(giveCredit(2))];
  const input = createInput(id, send);
  const kill = () => send(encodeInitFrame(toInit.kill, id));
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
  const running: RunningProgram = {
    stdin: input.stream,
    stdout,
    stderr,
    exit: exit.promise,
    kill,
    signal: (name) => send(encodeInitFrame(toInit.signal, id, constants.signals[name])),
    resize: ({ rows, columns }) =>
      send(encodeInitFrame(toInit.resize, id, 0, Buffer.from(Uint16Array.of(rows, columns).buffer))),
  };
  return { running, command };
}

/**
 * Creates an output stream that gives the init credit for the bytes that were read, so that a program waits for its
 * reader and the memory of this process stays bounded.
 */
function createOutput(giveCredit: (bytes: number) => void): Readable {
  const stream = new Readable({ highWaterMark: windowBytes, read() {} });
  let unreportedBytes = 0;
  const push = stream.push.bind(stream);
  stream.push = (chunk: Buffer | null) => {
    const hasRoom = push(chunk);
    unreportedBytes += chunk?.length ?? 0;
    if (hasRoom || stream.destroyed) reportRead();
    return hasRoom;
  };
  stream._read = reportRead;
  // A caller that stopped reading still waits for the exit, which comes after all output, so the init needs credit for
  // the rest.
  stream.once('close', reportRead);
  return stream;

  function reportRead(): void {
    if (unreportedBytes < windowBytes / 4) return;
    giveCredit(unreportedBytes);
    unreportedBytes = 0;
  }
}

function createInput(id: number, send: (frame: Buffer) => void) {
  let windowLeft = windowBytes;
  let waiting: (() => void) | undefined;
  const stream = new Writable({
    highWaterMark: windowBytes,
    async write(chunk: Buffer, _encoding, done) {
      for (let from = 0; from < chunk.length; ) {
        if (windowLeft === 0) await new Promise<void>((resolve) => (waiting = resolve));
        if (stream.destroyed) return done();
        const part = chunk.subarray(from, from + Math.min(windowLeft, 64 * 1024));
        windowLeft -= part.length;
        from += part.length;
        send(encodeInitFrame(toInit.input, id, 0, part));
      }
      done();
    },
    final(done) {
      send(encodeInitFrame(toInit.endInput, id));
      done();
    },
  });
  // An ended program takes no more input, which is no error.
  stream.on('error', () => {});
  return {
    stream,
    taken(bytes: number): void {
      windowLeft += bytes;
      waiting?.();
      waiting = undefined;
    },
    close(): void {
      stream.destroy();
      waiting?.();
    },
  };
}

function toExit(payload: Buffer): ProgramExit {
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
  [constants.errno.EAGAIN, 'the limit of processes is reached'],
]);

const startHints: ReadonlyMap<number, string> = new Map([
  [constants.errno.EACCES, 'Make the file executable (chmod +x), or name the program that runs it.'],
  [constants.errno.EAGAIN, 'End programs that are no longer needed, then run the command.'],
]);

const otherHint =
  'Nothing ran. See what the file is (file NAME): it must be a program for this system, and its arguments must be short.';

function cannotStart(errno: number): AppError {
  const reason = startFailures.get(errno) ?? getSystemErrorName(-errno);
  return new AppError('E_COMMAND_NOT_STARTED', `the program could not be started: ${reason}`, {
    details: { errno },
    hint: startHints.get(errno) ?? (errno === constants.errno.ENOENT ? undefined : otherHint),
  });
}

function toUint32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
