import type { Sandbox } from './commands/sandbox.ts';
import { createSandboxPool, type SandboxPool } from './commands/sandbox-pool.ts';
import { createShells, type Shells } from './commands/shells.ts';
import { createReadTracker, type ReadTracker } from './content/read-tracker.ts';
import { baseIn, type Place, startingAt } from './place.ts';
import type { SessionMemory } from './session-memory.ts';

/** One agent's connection and what belongs to it rather than to a server or a request. */
export interface Session {
  readonly id: string;
  /** The session whose person is asked for this one: its parent's. Left out: its own. */
  inbox?: string | undefined;
  reads: ReadTracker;
  readonly sandboxes: SandboxPool;
  readonly shells: Shells;
  /** Where it works. Left out: at the root of whichever workspace a call picks. */
  place: Place | undefined;
  /** What outlives the server. Left out: nothing does. */
  readonly memory?: SessionMemory | undefined;
  /** Aborts when it ends. */
  readonly signal: AbortSignal;
  /** Ends every program it started. */
  close(): Promise<void>;
}

export type OpenSandbox = (workspace: string) => Promise<Sandbox>;

export interface SessionOptions {
  readonly openSandbox: OpenSandbox;
  /** A sandbox that nothing runs in is closed after so long. */
  readonly sandboxIdleMs: number;
  readonly reads?: ReadTracker;
  readonly memory?: SessionMemory | undefined;
  readonly inbox?: string | undefined;
}

export function createSession(
  id: string,
  { openSandbox, sandboxIdleMs, reads, memory, inbox }: SessionOptions,
): Session {
  const pool = createSandboxPool({ idleMs: sandboxIdleMs, open: openSandbox });
  const ended = new AbortController();
  const session: Session = {
    id,
    inbox,
    memory,
    reads: reads ?? createReadTracker(),
    sandboxes: {
      ...pool,
      use: (workspace, work) =>
        pool.use(workspace, (sandbox) => work(startingAt(sandbox, baseIn(session.place, workspace)))),
    },
    shells: createShells(),
    place: undefined,
    signal: ended.signal,
    async close() {
      ended.abort();
      await pool.close();
    },
  };
  return session;
}

export type Sessions = ReturnType<typeof createSessions>;

export interface SessionsOptions {
  readonly create: (id: string) => Session;
  readonly now: () => number;
  readonly idleMs: number;
  readonly max: number;
}

/** The sessions of a server by name, made on first use, ended when idle for long or when there are too many. */
export function createSessions({ create, now, idleMs, max }: SessionsOptions) {
  // In order of use, so that the first entry is the one idle longest.
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
    /** Those of whom it is true. */
    async endThose(isOver: (id: string) => boolean): Promise<void> {
      await Promise.all([...sessions.keys()].filter(isOver).map(end));
    },
    /** Whether none of them has a sandbox. */
    isIdle: (): boolean => [...sessions.values()].every(({ session }) => session.sandboxes.isEmpty()),
    async close(): Promise<void> {
      await Promise.all([...sessions.keys()].map(end));
    },
  };

  async function end(id: string): Promise<void> {
    const session = sessions.get(id)?.session;
    sessions.delete(id);
    await session?.close();
  }
}
