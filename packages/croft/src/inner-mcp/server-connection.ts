import { AppError } from '@croft/protocol';
import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { resultWithin } from '../core/commands/run-command.ts';
import type { CommandSpec, ProgramExit, RunningProgram, Sandbox } from '../core/commands/sandbox.ts';
import { errorMessage } from '../lib/error-message.ts';
import { createOutputBuffer } from '../lib/text/lines/output-buffer.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import { version } from '../version.ts';
import { createJsonLinesTransport } from './json-lines-transport.ts';

export type ServerLaunch = Pick<CommandSpec, 'argv' | 'directory' | 'environment'>;
export type ServerConnection = Awaited<ReturnType<typeof connectServer>>;

/** How a server process ended. */
interface ServerEnd {
  readonly words: string;
  /** The error, when the sandbox or the runner ended and not the server. */
  readonly lost?: AppError | undefined;
}

export interface ServerRequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Time limit from starting the program to the end of the MCP handshake. */
const startMs = 30_000;
const stderrBytes = 4096;
const maxLastLines = 12;
const maxLastChars = 1500;
/** How long a program that was told to end may take. */
const exitMs = 5000;

/**
 * The schema for every result. The client's own schemas would refuse a whole list for one bad entry, and compile
 * hostile schemas.
 */
const AnyResult = z.looseObject({});

/**
 * Starts a server in a sandbox and does the MCP handshake. If that fails, throws `E_MCP_SERVER` with the last lines of
 * the server's stderr.
 */
export async function connectServer(sandbox: Sandbox, launch: ServerLaunch) {
  const ended = new AbortController();
  await sandbox.ready?.({ ...launch, signal: ended.signal });
  const running = sandbox.start({ ...launch, hasInput: true, signal: ended.signal });
  const stderr = createOutputBuffer({ headBytes: 0, tailBytes: stderrBytes });
  running.stderr.on('data', (chunk: Buffer) => stderr.append(chunk)).on('error', () => {});
  let [fault, isStale, isOver]: [string | undefined, boolean, boolean] = [undefined, false, false];
  const onFault = (what: string) => {
    fault = what;
  };
  const transport = createJsonLinesTransport(running, { onFault });
  const client = new Client({ name: 'croft', version }, { capabilities: {} });
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    isStale = true;
  });
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => {
      isOver = true;
      resolve();
    };
    running.exit.then(
      () => transport.close(),
      () => transport.close(),
    );
  });
  const end = closed.then(async (): Promise<ServerEnd> => {
    const { words, lost } = await endOf(running, fault !== undefined);
    return { words: [fault ?? words, lastWords(stderr.toText())].filter(Boolean).join('; its last words: '), lost };
  });

  try {
    await client.connect(transport, { timeout: startMs });
  } catch (thrown) {
    ended.abort();
    await transport.close();
    const { words, lost } = await end;
    const why = [handshakeWords(thrown), words].filter(Boolean).join('; ');
    throw lost ?? new AppError('E_MCP_SERVER', `${launch.argv[0]}: ${why}`);
  }

  return {
    end,
    /** Returns `undefined` while the server runs. */
    lastEnd: async (): Promise<ServerEnd | undefined> => (isOver ? end : undefined),
    /** Returns whether the server announced a change of its tools since the last call of `takeStale`. */
    takeStale(): boolean {
      const wasStale = isStale;
      isStale = false;
      return wasStale;
    },
    request: (method: string, params: Record<string, unknown>, { signal, timeoutMs }: ServerRequestOptions) =>
      client.request({ method, params }, AnyResult, { signal, timeout: timeoutMs }),
    close(): void {
      ended.abort();
      void transport.close();
    },
  };
}

async function endOf(running: RunningProgram, isFault: boolean): Promise<ServerEnd> {
  const exit = resultWithin(running.exit, exitMs);
  if (isFault) running.kill();
  const timer = setTimeout(() => running.kill(), exitMs / 2);
  try {
    return { words: toWords(await exit) };
  } catch (thrown) {
    const isLost = AppError.is(thrown) && thrown.code !== 'E_COMMAND_NOT_STARTED';
    return { words: wordsOf(thrown), lost: isLost ? thrown : undefined };
  } finally {
    clearTimeout(timer);
  }
}

function toWords(exit: ProgramExit | undefined): string {
  if (!exit) return 'it closed its output and did not end';
  return exit.code === null ? `it was killed by ${exit.signal}` : `it ended with ${exit.code}`;
}

/**
 * Returns an empty text for a closed connection: the closing is a consequence, and the exit of the program says the
 * reason.
 */
function handshakeWords(thrown: unknown): string {
  const code = thrown instanceof SdkError ? thrown.code : undefined;
  if (code === SdkErrorCode.ConnectionClosed) return '';
  return code === SdkErrorCode.RequestTimeout ? `it did not answer within ${startMs / 1000} s` : wordsOf(thrown);
}

function wordsOf(thrown: unknown): string {
  return stripControlSequences(errorMessage(thrown)).slice(0, maxLastChars);
}

function lastWords(stderr: string): string {
  const lines = stripControlSequences(stderr).trimEnd().split('\n').slice(-maxLastLines);
  return lines.join('\n').slice(-maxLastChars);
}
