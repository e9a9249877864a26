import { AppError } from '@croft/protocol';
import type { Sandbox } from './sandbox.ts';

export interface SandboxPoolOptions {
  /** Closed when it has not been used for so long and nothing runs in it. */
  readonly idleMs: number;
  open(workspace: string): Promise<Sandbox>;
}

export type SandboxPool = ReturnType<typeof createSandboxPool>;

/** The sandboxes of one session, one for each workspace it runs something in. Opened on first use. */
export function createSandboxPool({ idleMs, open }: SandboxPoolOptions) {
  const entries = new Map<string, Entry>();
  let isClosed = false;

  return { use, close };

  /** The sandbox of a workspace, kept open while `work` is under way. */
  async function use<T>(workspace: string, work: (sandbox: Sandbox) => Promise<T>): Promise<T> {
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

  function enter(workspace: string): Entry {
    if (isClosed) throw new AppError('E_SANDBOX_UNAVAILABLE', 'the session has ended');
    const known = entries.get(workspace);
    if (known) return known;
    const entry: Entry = { sandbox: open(workspace), users: 0, timer: undefined };
    entries.set(workspace, entry);
    const forget = () => {
      if (entries.get(workspace) === entry) entries.delete(workspace);
    };
    // One that could not be opened, or ended by itself, is opened anew by the next call.
    entry.sandbox.then(({ closed }) => closed.then(forget), forget);
    return entry;
  }

  function startTimer(workspace: string, entry: Entry): void {
    entry.timer = setTimeout(() => {
      if (entries.get(workspace) === entry) entries.delete(workspace);
      void closeEntry(entry);
    }, idleMs);
    entry.timer.unref();
  }
}

interface Entry {
  readonly sandbox: Promise<Sandbox>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

async function closeEntry({ sandbox, timer }: Entry): Promise<void> {
  clearTimeout(timer);
  await sandbox.then((opened) => opened.close()).catch(() => {});
}
