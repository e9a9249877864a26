import { AppError, type ErrorCode } from '@croft/protocol';
import type { Sandbox } from '../core/commands/sandbox.ts';
import { type Connection, connect, type Launch } from './connection.ts';

export interface KeeperOptions {
  readonly name: string;
  readonly sandbox: Sandbox;
  /** Asked for each start: a secret may be another by then. */
  launch(): Launch;
  tell(state: 'started' | 'ended' | 'failed', words: string): void;
}

/** What it was to run in is gone, which is no failure of the server. */
const lostCodes: ReadonlySet<ErrorCode> = new Set(['E_RUNNER_LOST', 'E_SANDBOX_UNAVAILABLE']);
/** In a row, without an answer between them. */
const maxFailures = 5;
const firstPauseMs = 250;
const maxPauseMs = 5000;

/** Keeps one server running: started on first need, and anew, after a pause that grows, at the next need after it ended. */
export function createKeeper({ name, sandbox, launch, tell }: KeeperOptions) {
  let current: Promise<Connection> | undefined;
  let [failures, lastWords] = [0, ''];

  return {
    /** Goes on when one caller does not wait any more: others may. */
    open(signal: AbortSignal): Promise<Connection> {
      current ??= begin();
      return unlessAborted(current, signal);
    },
    /** It did what it is for. */
    praise(): void {
      failures = 0;
    },
    close(): void {
      void current?.then(
        (connection) => connection.close(),
        () => {},
      );
    },
  };

  async function begin(): Promise<Connection> {
    if (failures >= maxFailures) {
      current = undefined;
      throw serverError(name, `is not started any more after ${failures} failures in a row: ${lastWords}`);
    }
    try {
      if (failures > 0) await pause(Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs));
      const connection = await connect(sandbox, launch());
      tell('started', '');
      void connection.end.then(({ words }) => note('ended', words));
      return connection;
    } catch (thrown) {
      const { code, message } = AppError.from(thrown);
      note('failed', message);
      throw lostCodes.has(code) ? thrown : serverError(name, `could not be started: ${message}`);
    }
  }

  function note(state: 'ended' | 'failed', words: string): void {
    current = undefined;
    failures += 1;
    lastWords = words;
    tell(state, words);
  }
}

export function serverError(name: string, words: string): AppError {
  return new AppError('E_MCP_SERVER', `the MCP server ${name} ${words}`, { details: { server: name } });
}

async function pause(ms: number): Promise<void> {
  await new Promise<void>((resolve) => setTimeout(resolve, ms));
}

export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Whoever has left already is not told how it went.
  work.catch(() => {});
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', leave));
}
