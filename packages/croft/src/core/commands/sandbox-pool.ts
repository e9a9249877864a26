import { AppError } from '@croft/protocol';
import type { Sandbox } from './sandbox.ts';

/** The part of a sandbox that the pool uses. */
type Closable = Pick<Sandbox, 'close' | 'closed' | 'ended' | 'end'>;

interface SandboxPoolOptions<Box extends Closable> {
  /** An unused sandbox in which nothing runs is closed after this time. A shared one has an idle time of its own. */
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
      const sandbox = await entry.sandbox;
      entry.isShared = sandbox.end !== undefined;
      return await work(sandbox);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) retired.has(entry) ? closeLeft(entry) : startTimer(entry, idleMs);
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

  /** With a reason, the owner has lost its access: sandboxes that it shares with others end too. */
  async function close(reason?: AppError): Promise<void> {
    isClosed = true;
    const all = [...entries.values(), ...retired];
    entries.clear();
    retired.clear();
    await Promise.all(all.map((entry) => closeEntry(entry, reason)));
  }

  function enter(workspace: string): PooledSandbox<Box> {
    if (isClosed) throw sessionEnded();
    const known = entries.get(workspace);
    if (known) return known;
    const isKnown = () => entries.get(workspace) === entry;
    const forget = () => void (isKnown() && entries.delete(workspace));
    const [sandbox, timer] = [open(workspace), undefined];
    const entry: PooledSandbox<Box> = { sandbox, users: 0, isShared: false, timer, forget };
    entries.set(workspace, entry);
    // The next call replaces a sandbox that could not be opened or has ended, even before the old one is cleared away.
    sandbox.then(({ closed, ended }) => {
      void ended?.then(() => isKnown() && renew(workspace));
      closed.then(forget, forget);
    }, forget);
    return entry;
  }
}

interface PooledSandbox<Box> {
  readonly sandbox: Promise<Box>;
  users: number;
  /** See `Sandbox.end`. Known after the first use. */
  isShared: boolean;
  timer: NodeJS.Timeout | undefined;
  /** Makes the next use open another sandbox. */
  forget(): void;
}

function startTimer(entry: PooledSandbox<Closable>, idleMs: number): void {
  if (entry.isShared) return;
  const close = () => {
    entry.forget();
    void closeEntry(entry);
  };
  entry.timer = setTimeout(close, idleMs).unref();
}

async function closeEntry({ sandbox, timer }: PooledSandbox<Closable>, reason?: AppError): Promise<void> {
  clearTimeout(timer);
  const end = (opened: Closable) => (reason && opened.end ? opened.end(reason.message) : opened.close());
  await sandbox.then(end).catch(() => {});
}

function sessionEnded(): AppError {
  return new AppError('E_SANDBOX_UNAVAILABLE', 'the session has ended', { hint: 'Start another session.' });
}
