import type { AppError } from '@croft/protocol';
import type { AnswerPages } from '../answers/answer-pages.ts';
import { createAnswerStore } from '../answers/answer-store.ts';
import { type BackgroundCommands, createBackgroundCommands } from '../commands/background-commands.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import { createSandboxPool, type SandboxPool } from '../commands/sandbox-pool.ts';
import { createReadTracker, type ReadTracker } from '../content/read/read-tracker.ts';
import type { SessionStore } from './session-store.ts';
import { sandboxStartingAt, type WorkingDirectory, workingDirectoryIn } from './working-directory.ts';

/** One agent's connection with its state, which outlives single requests and belongs to no other agent. */
export interface Session {
  readonly id: string;
  /** The parent session whose person is asked for approvals. Absent: this session's own person. */
  inbox?: string | undefined;
  reads: ReadTracker;
  readonly sandboxes: SandboxPool;
  readonly shells: BackgroundCommands;
  /** Long answers that `next_page` can continue. */
  readonly pages: AnswerPages;
  /** Absent: calls start at the root of the workspace they pick. */
  workingDirectory: WorkingDirectory | undefined;
  /** Stores the session in the records. Absent: the session ends with the server. */
  readonly store?: SessionStore | undefined;
  /** Messages that are given once per session, and were given: see `sayOnce`. */
  readonly saidOnce: Set<string>;
  /** Names of the secrets that its programs were given. */
  readonly given: Set<string>;
  /** Aborts when the session ends. */
  readonly signal: AbortSignal;
  /** Ends all programs of the session. Calls in progress fail with `reason`. */
  close(reason?: AppError): Promise<void>;
}

type OpenSandbox = (workspace: string) => Promise<Sandbox>;

interface SessionOptions {
  readonly openSandbox: OpenSandbox;
  /** An idle sandbox is closed after this time. */
  readonly sandboxIdleMs: number;
  readonly reads?: ReadTracker;
  readonly memory?: SessionStore | undefined;
  readonly inbox?: string | undefined;
  /** Holds its long answers, and drops them with the session. Absent: the session has a store of its own. */
  readonly pages?: AnswerPages | undefined;
  /** Why the background commands of its former server ended. Absent: because that server ended. */
  readonly lostBecause?: string | undefined;
}

export function createSession(
  id: string,
  {
    openSandbox,
    sandboxIdleMs,
    reads,
    memory,
    inbox,
    lostBecause,
    pages = createAnswerStore().open(id),
  }: SessionOptions,
): Session {
  const pool = createSandboxPool({ idleMs: sandboxIdleMs, open: openSandbox });
  const ended = new AbortController();
  const session: Session = {
    id,
    inbox,
    store: memory,
    reads: reads ?? createReadTracker(),
    sandboxes: {
      ...pool,
      use: (workspace, work) =>
        pool.use(workspace, (sandbox) =>
          work(sandboxStartingAt(sandbox, workingDirectoryIn(session.workingDirectory, workspace))),
        ),
    },
    shells: createBackgroundCommands(lostBecause),
    pages,
    workingDirectory: undefined,
    saidOnce: new Set(),
    given: new Set(),
    signal: ended.signal,
    async close(reason) {
      ended.abort(reason);
      pages.close();
      await pool.close(reason);
    },
  };
  return session;
}
