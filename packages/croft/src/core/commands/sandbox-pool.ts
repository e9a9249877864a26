import { AppError } from '@croft/protocol';
import type { Sandbox } from './sandbox.ts';

/** The part of a sandbox that the pool uses. */
type Closable = Pick<Sandbox, 'close' | 'closed' | 'ended'>;

interface SandboxPoolOptions<Box extends Closable> {
  /** An unused sandbox in which nothing runs is closed after this time. */
  readonly idleMs: number;
  open(workspace: string): Promise<Box>;
}

export type SandboxPool<Box extends Closable = Sandbox> = ReturnType<typeof createSandboxPool<Box>>;

/** The sandboxes of one owner, one per workspace, opened on first use. */
export function createSandboxPool<Box extends Closable>({ idleMs, open }: SandboxPoolOptions<Box>) {
  const entries = new Map<string, PooledSandbox<Box>>();
  /** Replaced sandboxes. Each is closed when the last program in it ends. */
  const retired = new Set<PooledSandbox<Box>>();
  let isClosed = false;

  return {
    ...{ use, close, renew },
    /** Opens the sandbox of a workspace ahead of its use. If that fails, its user is told, who tries again. */
    open: (workspace: string) => void use(workspace, async () => {}).catch(() => {}),
    isEmpty: () => entries.size === 0 && retired.size === 0,
    isOpen: (workspace: string) => entries.has(workspace),
  };

  /** Runs `work` with the sandbox of a workspace, which stays open meanwhile. */
  async function use<T>(workspace: string, work: (sandbox: Box) => Promise<T>): Promise<T> {
    const entry = enter(workspace);
    entry.users += 1;
    clearTimeout(entry.timer);
    try {
      return await work(await entry.sandbox);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) retired.has(entry) ? closeLeft(entry) : startTimer(workspace, entry);
    }
  }

  /** Makes the next use open a new sandbox. The old one stays while something runs in it. */
  function renew(workspace: string): void {
    const entry = entries.get(workspace);
    if (!entry) return;
    entries.delete(workspace);
    retired.add(entry);
    if (entry.users === 0) closeLeft(entry);
  }

  function closeLeft(entry: PooledSandbox<Box>): void {
    retired.delete(entry);
    void closeEntry(entry);
  }

  async function close(): Promise<void> {
    isClosed = true;
    const all = [...entries.values(), ...retired];
    entries.clear();
    retired.clear();
    await Promise.all(all.map(closeEntry));
  }

  function enter(workspace: string): PooledSandbox<Box> {
    if (isClosed) throw sessionEnded();
    const known = entries.get(workspace);
    if (known) return known;
    const entry: PooledSandbox<Box> = { sandbox: open(workspace), users: 0, timer: undefined };
    entries.set(workspace, entry);
    const isKnown = () => entries.get(workspace) === entry;
    const forget = () => void (isKnown() && entries.delete(workspace));
    // The next call replaces a sandbox that could not be opened or has ended, even before the old one is cleared away.
    entry.sandbox.then(({ closed, ended }) => {
      void ended?.then(() => isKnown() && renew(workspace));
      closed.then(forget, forget);
    }, forget);
    return entry;
  }

  function startTimer(workspace: string, entry: PooledSandbox<Box>): void {
    entry.timer = setTimeout(() => {
      if (entries.get(workspace) === entry) entries.delete(workspace);
      void closeEntry(entry);
    }, idleMs);
    entry.timer.unref();
  }
}

interface PooledSandbox<Box> {
  readonly sandbox: Promise<Box>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

async function closeEntry({ sandbox, timer }: PooledSandbox<Closable>): Promise<void> {
  clearTimeout(timer);
  await sandbox.then((opened) => opened.close()).catch(() => {});
}

function sessionEnded(): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', 'the session has ended', { hint: 'Start another session.' });
}
