import { AppError } from '@croft/protocol';
import type { Sandbox } from './sandbox.ts';

/** What a pool has to know of what it keeps. */
type Closable = Pick<Sandbox, 'close' | 'closed'>;

export interface SandboxPoolOptions<Box extends Closable> {
  /** Closed when it has not been used for so long and nothing runs in it. */
  readonly idleMs: number;
  open(workspace: string): Promise<Box>;
}

export type SandboxPool<Box extends Closable = Sandbox> = ReturnType<typeof createSandboxPool<Box>>;

/** Sandboxes of one owner, one for each workspace it runs something in. Opened on first use. */
export function createSandboxPool<Box extends Closable>({ idleMs, open }: SandboxPoolOptions<Box>) {
  const entries = new Map<string, Entry<Box>>();
  let isClosed = false;

  return { use, close, isEmpty: () => entries.size === 0, isOpen: (workspace: string) => entries.has(workspace) };

  /** The sandbox of a workspace, kept open while `work` is under way. */
  async function use<T>(workspace: string, work: (sandbox: Box) => Promise<T>): Promise<T> {
    const entry = enter(workspace);
    entry.users += 1;
    clearTimeout(entry.timer);
    try {
      return await work(await entry.sandbox);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) startTimer(workspace, entry);
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    const all = [...entries.values()];
    entries.clear();
    await Promise.all(all.map(closeEntry));
  }

  function enter(workspace: string): Entry<Box> {
    if (isClosed) throw new AppError('E_SANDBOX_UNAVAILABLE', 'the session has ended');
    const known = entries.get(workspace);
    if (known) return known;
    const entry: Entry<Box> = { sandbox: open(workspace), users: 0, timer: undefined };
    entries.set(workspace, entry);
    const forget = () => {
      if (entries.get(workspace) === entry) entries.delete(workspace);
    };
    // One that could not be opened, or ended by itself, is opened anew by the next call.
    entry.sandbox.then(({ closed }) => closed.then(forget, forget), forget);
    return entry;
  }

  function startTimer(workspace: string, entry: Entry<Box>): void {
    entry.timer = setTimeout(() => {
      if (entries.get(workspace) === entry) entries.delete(workspace);
      void closeEntry(entry);
    }, idleMs);
    entry.timer.unref();
  }
}

interface Entry<Box> {
  readonly sandbox: Promise<Box>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

async function closeEntry({ sandbox, timer }: Entry<Closable>): Promise<void> {
  clearTimeout(timer);
  await sandbox.then((opened) => opened.close()).catch(() => {});
}
