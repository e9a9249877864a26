import type { Sandbox } from './commands/sandbox.ts';
import { createSandboxPool, type SandboxPool } from './commands/sandbox-pool.ts';
import { createShells, type Shells } from './commands/shells.ts';
import { createReadTracker, type ReadTracker } from './content/read-tracker.ts';

/** One agent's connection and what belongs to it rather than to a server or a request. */
export interface Session {
  readonly id: string;
  readonly reads: ReadTracker;
  readonly sandboxes: SandboxPool;
  readonly shells: Shells;
  /** Ends every program it started. */
  close(): Promise<void>;
}

export type OpenSandbox = (workspace: string) => Promise<Sandbox>;

export interface SessionOptions {
  readonly openSandbox: OpenSandbox;
  /** A sandbox that nothing runs in is closed after so long. */
  readonly sandboxIdleMs: number;
  readonly reads?: ReadTracker;
}

export function createSession(id: string, { openSandbox, sandboxIdleMs, reads }: SessionOptions): Session {
  const sandboxes = createSandboxPool({ idleMs: sandboxIdleMs, open: openSandbox });
  return { id, reads: reads ?? createReadTracker(), sandboxes, shells: createShells(), close: sandboxes.close };
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
