import type { AppError } from '@croft/protocol';
import type { AnswerPages } from '../answers/answer-pages.ts';
import { createAnswerStore } from '../answers/answer-store.ts';
import { type BackgroundCommands, createBackgroundCommands } from '../commands/background-commands.ts';
import type { Sandbox } from '../commands/sandbox.ts';
import { createSandboxPool, type SandboxPool } from '../commands/sandbox-pool.ts';
import { createReadTracker, type ReadTracker } from '../content/read/read-tracker.ts';
import type { SessionStore } from './session-store.ts';
import { sandboxStartingAt, type WorkingDirectory, workingDirectoryIn } from './working-directory.ts';

/** One agent's connection and its state: everything that belongs to neither a server nor a single request. */
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
      await pool.close();
    },
  };
  return session;
}

interface SessionsOptions {
  readonly create: (id: string) => Session;
  readonly now: () => number;
  readonly idleMs: number;
  readonly max: number;
  /** Called when a session ends for a reason while it has open sandboxes. */
  onInterrupted?(id: string, reason: AppError): void;
}

/**
 * The sessions of a server by id. Creates a session on first use; ends it after a long idle time, or when there are too
 * many.
 */
export function createSessions({ create, now, idleMs, max, onInterrupted }: SessionsOptions) {
  // In order of use: the first entry has been idle longest.
  const sessions = new Map<string, { session: Session; usedAt: number }>();

  return {
    get(id: string): Session {
      const session = sessions.get(id)?.session ?? create(id);
      sessions.delete(id);
      sessions.set(id, { session, usedAt: now() });
      for (const [oldest, { usedAt }] of sessions) {
        if (sessions.size <= max && now() - usedAt <= idleMs) break;
        void end(oldest);
      }
      return session;
    },
    end,
    /** Ends the sessions for which `isOver` returns true. */
    async endThose(isOver: (session: Session) => boolean, reason?: AppError): Promise<void> {
      const over = [...sessions.values()].filter(({ session }) => isOver(session));
      await Promise.all(over.map(({ session }) => end(session.id, reason)));
    },
    /** Makes the next call open a new sandbox for these workspaces. Programs in open sandboxes continue. */
    renew(workspaces: readonly string[]): void {
      for (const { session } of sessions.values()) workspaces.forEach(session.sandboxes.renew);
    },
    /** Whether no session has an open sandbox. */
    isIdle: (): boolean => [...sessions.values()].every(({ session }) => session.sandboxes.isEmpty()),
    async close(reason?: AppError): Promise<void> {
      await Promise.all([...sessions.keys()].map((id) => end(id, reason)));
    },
  };

  async function end(id: string, reason?: AppError): Promise<void> {
    const session = sessions.get(id)?.session;
    sessions.delete(id);
    if (reason && session?.sandboxes.isEmpty() === false) onInterrupted?.(id, reason);
    await session?.close(reason);
  }
}
