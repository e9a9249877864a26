import { AppError } from '@croft/protocol';
import { Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { within } from '../core/commands/run-command.ts';
import type { CommandSpec, Exit, Running, Sandbox } from '../core/commands/sandbox.ts';
import { createOutputBuffer } from '../lib/text/output-buffer.ts';
import { stripControl } from '../lib/text/strip-control.ts';
import { version } from '../version.ts';
import { createRunningTransport } from './transport.ts';

export type Launch = Pick<CommandSpec, 'argv' | 'directory' | 'environment'>;
export type Connection = Awaited<ReturnType<typeof connect>>;

/** How a server ended. */
export interface End {
  readonly words: string;
  /** Why, when it was not the server that ended but what it ran in. */
  readonly lost?: AppError | undefined;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Until it has shaken hands. */
const startMs = 30_000;
const stderrBytes = 4096;
const maxLastLines = 12;
const maxLastChars = 1500;
/** For a program that was told to end. */
const exitMs = 5000;

/** Our own words for what is read here; the client's would refuse a list for one bad entry, and compile hostile schemas. */
const AnyResult = z.looseObject({});

/** Starts a server in a sandbox and shakes hands with it. Throws `E_MCP_SERVER`, with its last words, if that fails. */
export async function connect(sandbox: Sandbox, launch: Launch) {
  const ended = new AbortController();
  const running = sandbox.start({ ...launch, hasInput: true, signal: ended.signal });
  const stderr = createOutputBuffer({ headBytes: 0, tailBytes: stderrBytes });
  running.stderr.on('data', (chunk: Buffer) => stderr.append(chunk)).on('error', () => {});
  let [fault, isStale, isOver]: [string | undefined, boolean, boolean] = [undefined, false, false];
  const onFault = (what: string) => {
    fault = what;
  };
  const transport = createRunningTransport(running, { onFault });
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
  const end = closed.then(async (): Promise<End> => {
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
    /** `undefined` while it goes on. */
    lastEnd: async (): Promise<End | undefined> => (isOver ? end : undefined),
    /** Whether its tools are others than it said. */
    takeStale(): boolean {
      const wasStale = isStale;
      isStale = false;
      return wasStale;
    },
    request: (method: string, params: Record<string, unknown>, { signal, timeoutMs }: RequestOptions) =>
      client.request({ method, params }, AnyResult, { signal, timeout: timeoutMs }),
    close(): void {
      ended.abort();
      void transport.close();
    },
  };
}

async function endOf(running: Running, isFault: boolean): Promise<End> {
  const exit = within(running.exit, exitMs);
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

function toWords(exit: Exit | undefined): string {
  if (!exit) return 'it closed its output and did not end';
  return exit.code === null ? `it was killed by ${exit.signal}` : `it ended with ${exit.code}`;
}

/** That the connection was closed is not why. */
function handshakeWords(thrown: unknown): string {
  const code = thrown instanceof SdkError ? thrown.code : undefined;
  if (code === SdkErrorCode.ConnectionClosed) return '';
  return code === SdkErrorCode.RequestTimeout ? `it did not answer within ${startMs / 1000} s` : wordsOf(thrown);
}

function wordsOf(thrown: unknown): string {
  return stripControl(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, maxLastChars);
}

function lastWords(stderr: string): string {
  const lines = stripControl(stderr).trimEnd().split('\n').slice(-maxLastLines);
  return lines.join('\n').slice(-maxLastChars);
}
