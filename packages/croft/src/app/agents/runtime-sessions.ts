import type { AppError } from '@croft/protocol';
import { createSession, type Session } from '../../core/sessions/session.ts';
import { createSessions } from '../../core/sessions/sessions.ts';
import { type AgentParts, type AgentRuntimeOptions, sandboxSecrets } from './agent-parts.ts';

/** The sessions of one agent. They outlive the agent's parts: `parts` returns the current ones. */
export function createRuntimeSessions(
  { accountId, id: agentId }: AgentParts['agent'],
  options: AgentRuntimeOptions,
  parts: () => AgentParts,
) {
  /** Sessions of single calls, for an agent without a workspace. */
  const fleeting = new Set<Session>();
  const bounds = { now: options.now, idleMs: options.sessionIdleMs, max: options.maxSessions };
  const sessions = createSessions({
    ...{ ...bounds, create: (id) => create(id) },
    onInterrupted: (id, { message }) => options.losses.set(id, `has ended: ${message}`),
  });
  /** For an agent without a workspace: these sessions store the long answers by name, and run nothing. */
  const readers = createSessions({ ...bounds, create: (id) => create(id) });
  const end = async (id: string) => void (await Promise.all([readers.end(id), sessions.end(id)]));
  const close = async (reason?: AppError) => void (await Promise.all([readers.close(), sessions.close(reason)]));

  return { sessions: { ...sessions, end, close }, run, endGiven };

  function create(id: string, pages = options.shelf.open(accountId)): Session {
    const { sandboxIdleMs, memoryOf, losses } = options;
    const session: Session = createSession(id, {
      sandboxIdleMs,
      openSandbox(name) {
        const { surface, workspaces } = parts();
        for (const secret of sandboxSecrets(surface, name)) session.given.add(secret);
        return workspaces.pick(name).openSandbox();
      },
      memory: parts().stateless ? undefined : memoryOf({ accountId, agentId }, id),
      lostBecause: losses.get(id),
      pages,
    });
    return session;
  }

  /**
   * Runs `work` in the session of that name. Without a workspace nothing is stored, so each call gets a session of its
   * own. The next call under that name can still read on in a long answer.
   */
  async function run<T>(name: string, work: (session: Session) => Promise<T>): Promise<T> {
    if (!parts().stateless) return work(sessions.get(name));
    const session = create(name, { ...readers.get(name).pages, close() {} });
    fleeting.add(session);
    try {
      return await work(session);
    } finally {
      fleeting.delete(session);
      await session.close();
    }
  }

  /** Ends the sessions that were given one of these secrets. */
  async function endGiven(names: readonly string[], toReason: (name: string) => AppError): Promise<void> {
    const endThose = async (name: string) => {
      const wasGiven = ({ given }: Session) => given.has(name.toLowerCase());
      const passing = [...fleeting].filter(wasGiven).map((session) => session.close(toReason(name)));
      await Promise.all([...passing, sessions.endThose(wasGiven, toReason(name))]);
    };
    await Promise.all(names.map(endThose));
  }
}
