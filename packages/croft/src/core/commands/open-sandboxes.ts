import type { LiveSandboxes, OpenSandbox } from '@croft/protocol';
import type { Sandbox, SandboxUsage } from './sandbox.ts';

/** The account of a sandbox, and the agent, session or person for whom it was opened. */
export interface SandboxOwner {
  readonly accountId: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
  readonly workspace: string;
  /** The agent, or the person who has a terminal. */
  readonly openedBy: string;
}

interface Opened extends SandboxOwner {
  readonly id: string;
  readonly openedAt: string;
  readonly sandbox: Sandbox;
  isSuspended: boolean;
}

export type OpenSandboxes = ReturnType<typeof createOpenSandboxes>;

const notMeasured: SandboxUsage = { ports: [] };

/** The sandboxes that are open on this server, for people who watch. */
export function createOpenSandboxes(now: () => Date) {
  const opened = new Set<Opened>();
  return {
    /** Lists a sandbox until it is closed. */
    async track(owner: SandboxOwner, open: () => Promise<Sandbox>): Promise<Sandbox> {
      const sandbox = await open();
      const entry = { ...owner, id: crypto.randomUUID(), openedAt: now().toISOString(), sandbox, isSuspended: false };
      opened.add(entry);
      const forget = () => void opened.delete(entry);
      sandbox.closed.then(forget, forget);
      void sandbox.ended?.then(forget, forget);
      return withSuspendedMark(sandbox, entry);
    },
    async live(accountId: string, sandboxId: string): Promise<LiveSandboxes> {
      const own = [...opened].filter((one) => one.accountId === accountId && one.sandboxId === sandboxId);
      return { at: now().toISOString(), open: await Promise.all(own.map(toOpenSandbox)) };
    },
  };
}

function withSuspendedMark(sandbox: Sandbox, entry: Opened): Sandbox {
  const { suspend } = sandbox;
  if (!suspend) return sandbox;
  return {
    ...sandbox,
    suspend() {
      const resume = suspend();
      entry.isSuspended = true;
      return () => {
        entry.isSuspended = false;
        resume();
      };
    },
  };
}

async function toOpenSandbox({ id, openedAt, openedBy, isSuspended, sandbox, ...where }: Opened): Promise<OpenSandbox> {
  const { workspaceId, workspace } = where;
  const { memoryBytes: maxMemory, processes: maxProcesses, cpus } = sandbox.limits;
  // A sandbox that ends meanwhile is measured no more.
  const usage = (await sandbox.usage?.().catch(() => undefined)) ?? notMeasured;
  const { processes = null, memoryBytes = null, processorMs = null, ports } = usage;
  return {
    ...{ id, workspaceId, workspace, openedBy, openedAt, isSuspended, processes, memoryBytes, processorMs },
    ports: [...ports],
    limits: { memoryBytes: maxMemory, processes: maxProcesses, cpus },
  };
}
