import { AppError } from '@croft/protocol';
import type { LanguageServer, ServerUse } from '../core/code/ports/language-servers.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Files } from '../core/files/files.ts';
import { unlessAborted } from '../lib/concurrency/unless-aborted.ts';
import type { NumberedChanges } from './numbered-changes.ts';
import { codeServerError, noServerError, ServerGoneError, toOpenError } from './server-errors.ts';
import { type LanguageServerLaunch, type ServerProcess, startServer } from './server-process.ts';
import { createSyncedServer, type SyncedServer } from './synced-server.ts';

type Tell = (state: 'started' | 'ended' | 'failed', words: string) => void;

interface SupervisedServerOptions {
  readonly launch: LanguageServerLaunch;
  readonly files: Pick<Files, 'read' | 'modifiedTimes'>;
  readonly changes: NumberedChanges;
  openSandbox(): Promise<Sandbox>;
  readonly tell: Tell;
}

/** Failed starts and unexpected ends in a row, without an answer between them. */
const maxFailures = 5;
const firstPauseMs = 250;
const maxPauseMs = 5000;
/** A question is asked once more on a new process. */
const maxAttempts = 2;

interface Opened {
  readonly server: SyncedServer;
  readonly process: ServerProcess;
  readonly sandbox: Sandbox;
}

export type SupervisedServer = ReturnType<typeof createSupervisedServer>;

/** Keeps one server running: starts it for the first caller, and again after a crash, with a pause that grows. */
export function createSupervisedServer(options: SupervisedServerOptions) {
  const { launch, changes } = options;
  const failures = createFailureCount(options);
  let current: Promise<Opened> | undefined;

  return {
    isRunning: () => current !== undefined,
    async use<T>(wanted: ServerUse, work: (server: LanguageServer) => Promise<T>): Promise<T> {
      for (let attempt = 1; ; attempt += 1) {
        const opened = await open(wanted.signal);
        const { isGone, answer } = await answerOf(work(opened.server.forCaller(wanted)));
        if (!isGone) {
          failures.reset();
          return answer as T;
        }
        await discard(opened);
        if (attempt === maxAttempts)
          throw codeServerError(launch.definition, `ended before it answered: ${await opened.process.lastWords}`);
      }
    },
    async stop(): Promise<void> {
      const opened = await current?.catch(() => undefined);
      current = undefined;
      await opened?.process.stop();
      await opened?.sandbox.close().catch(() => {});
    },
  };

  /** When one caller aborts, the start continues for the others. */
  function open(signal: AbortSignal): Promise<Opened> {
    current ??= begin().catch((thrown) => {
      current = undefined;
      throw thrown;
    });
    return unlessAborted(current, signal);
  }

  async function begin(): Promise<Opened> {
    const startedAt = await changes.update();
    await failures.pause(startedAt);
    const opened = await start(options, startedAt, failures.note);
    void opened.process.lastWords.then((words) => {
      if (!opened.process.wasStopped()) failures.note('ended', words);
      void discard(opened);
    });
    return opened;
  }

  /** Forgets a process that has ended, and closes its sandbox with everything in it. */
  async function discard({ sandbox, server, process }: Opened): Promise<void> {
    // The sandbox knows which limit was reached, until it is closed.
    await process.lastWords;
    const known = await current?.catch(() => undefined);
    if (known?.server === server) current = undefined;
    await sandbox.close().catch(() => {});
  }
}

async function answerOf<T>(work: Promise<T>): Promise<{ isGone: boolean; answer?: T }> {
  try {
    return { isGone: false, answer: await work };
  } catch (thrown) {
    if (thrown instanceof ServerGoneError) return { isGone: true };
    throw thrown;
  }
}

async function start(options: SupervisedServerOptions, startedAt: number, note: Tell): Promise<Opened> {
  const { launch, files, changes, openSandbox, tell } = options;
  const { definition } = launch;
  const sandbox = await openSandbox().catch((thrown) => {
    throw toOpenError(definition, thrown);
  });
  try {
    const process = await startServer(sandbox, launch);
    tell('started', '');
    return { process, sandbox, server: createSyncedServer({ definition, process, files, changes, startedAt }) };
  } catch (thrown) {
    await sandbox.close().catch(() => {});
    const { code, message } = AppError.from(thrown);
    if (code === 'E_COMMAND_NOT_STARTED') throw noServerError(definition, `is not installed. ${definition.install}`);
    if (code !== 'E_CODE_SERVER') throw thrown;
    note('failed', message);
    throw codeServerError(definition, `could not be started: ${message}`);
  }
}

function createFailureCount({ launch, changes, tell }: SupervisedServerOptions) {
  let [count, lastWords, at] = [0, '', -1];
  return {
    reset(): void {
      count = 0;
    },
    note(state: 'started' | 'ended' | 'failed', words: string): void {
      [count, lastWords, at] = [count + 1, words, changes.current()];
      tell(state, words);
    },
    /** Waits before another start. Throws after too many failures, until files change. */
    async pause(version: number): Promise<void> {
      if (count === 0) return;
      if (count >= maxFailures && at === version) {
        const words = `is not started any more after ${count} failures in a row, until files change: ${lastWords}`;
        throw codeServerError(launch.definition, words);
      }
      const ms = Math.min(firstPauseMs * 2 ** (count - 1), maxPauseMs);
      await new Promise<void>((resolve) => setTimeout(resolve, ms));
    },
  };
}
