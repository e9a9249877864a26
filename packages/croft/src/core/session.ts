import { createReadTracker, type ReadTracker } from './read-tracker.ts';

/** One agent's connection and what belongs to it rather than to a server or a request. */
export interface Session {
  readonly id: string;
  readonly reads: ReadTracker;
}

export type Sessions = ReturnType<typeof createSessions>;

export interface SessionsOptions {
  readonly now: () => number;
  readonly idleMs: number;
  readonly max: number;
}

/** The sessions of a server by name, made on first use, dropped when idle for long or when there are too many. */
export function createSessions({ now, idleMs, max }: SessionsOptions) {
  // In order of use, so that the first entry is the one idle longest.
  const sessions = new Map<string, { session: Session; usedAt: number }>();

  return {
    get(id: string): Session {
      const session = sessions.get(id)?.session ?? createSession(id);
      sessions.delete(id);
      sessions.set(id, { session, usedAt: now() });
      for (const [oldest, { usedAt }] of sessions) {
        if (sessions.size <= max && now() - usedAt <= idleMs) break;
        sessions.delete(oldest);
      }
      return session;
    },
    end: (id: string): void => void sessions.delete(id),
  };
}

export function createSession(id: string, reads: ReadTracker = createReadTracker()): Session {
  return { id, reads };
}
