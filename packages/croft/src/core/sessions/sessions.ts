import type { AppError } from '@croft/protocol';
import type { Session } from './session.ts';

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
