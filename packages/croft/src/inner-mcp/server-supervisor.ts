import { AppError, type ErrorCode } from '@croft/protocol';
import type { Sandbox } from '../core/commands/sandbox.ts';
import { unlessAborted } from '../lib/concurrency/unless-aborted.ts';
import { connectServer, type ServerConnection, type ServerLaunch } from './server-connection.ts';

export interface ServerSupervisorOptions {
  readonly name: string;
  readonly sandbox: Sandbox;
  /** Called for each start, because secrets may have changed. */
  launch(): ServerLaunch;
  tell(state: 'started' | 'ended' | 'failed', words: string): void;
}

/** The sandbox or the runner is gone. These errors do not count as failures of the server. */
const lostCodes: ReadonlySet<ErrorCode> = new Set(['E_RUNNER_LOST', 'E_SANDBOX_UNAVAILABLE']);
/** Failed starts and ends in a row, without a successful call between them. */
const maxFailures = 5;
const firstPauseMs = 250;
const maxPauseMs = 5000;

/**
 * Keeps one server running. The first call that needs the server starts it; after an end the next call restarts it,
 * after a pause that grows.
 */
export function createServerSupervisor({ name, sandbox, launch, tell }: ServerSupervisorOptions) {
  let current: Promise<ServerConnection> | undefined;
  let [failures, lastWords] = [0, ''];

  return {
    /** When one caller aborts, the start continues for the others. */
    open(signal: AbortSignal): Promise<ServerConnection> {
      current ??= begin();
      return unlessAborted(current, signal);
    },
    /** Resets the count of failures after a successful call. */
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

  async function begin(): Promise<ServerConnection> {
    if (failures >= maxFailures) {
      current = undefined;
      throw serverError(name, `is not started any more after ${failures} failures in a row: ${lastWords}`);
    }
    try {
      if (failures > 0) await pause(Math.min(firstPauseMs * 2 ** (failures - 1), maxPauseMs));
      const connection = await connectServer(sandbox, launch());
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
