import { AppError } from '@croft/protocol';
import type { Sandbox, TerminalSize } from '../commands/sandbox.ts';
import { createTerminal, type Terminal, type Viewer } from './terminal.ts';

/** Whose terminal it is, and of what. Nobody else can name it. */
export interface TerminalOwner {
  readonly accountId: string;
  /** The key or the admin that asked for it. */
  readonly person: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
}

export interface TerminalWish {
  readonly size: TerminalSize;
  /** One to go on with. */
  readonly terminal?: string | undefined;
  readonly from?: number | undefined;
}

export interface TerminalsOptions {
  /** Throws `E_NOT_FOUND`, `E_SANDBOX_UNAVAILABLE`: then there is no terminal anywhere. */
  openSandbox(owner: TerminalOwner): Promise<Sandbox>;
  readonly graceMs: number;
}

interface Open {
  readonly owner: TerminalOwner;
  readonly terminal: Terminal;
  readonly sandbox: Sandbox;
}

const perAccount = 50;

export type Terminals = ReturnType<typeof createTerminals>;

/** The terminals of a server, each in a sandbox of its own. */
export function createTerminals({ openSandbox, graceMs }: TerminalsOptions) {
  const all = new Map<string, Open>();
  const opening = new Map<string, number>();

  return {
    /** A new one, or the one that is gone on with. */
    async enter(owner: TerminalOwner, { size, terminal: id, from }: TerminalWish, viewer: Viewer): Promise<Terminal> {
      const terminal = id === undefined ? await open(owner, size) : find(owner, id);
      terminal.attach(viewer, from);
      terminal.resize(size);
      return terminal;
    },
    endThose,
    endOf: (accountId: string) => endThose((owner) => owner.accountId === accountId),
    owners: (): TerminalOwner[] => [...all.values()].map(({ owner }) => owner),
    async close(): Promise<void> {
      await Promise.all([...all.values()].map(({ sandbox }) => sandbox.close()));
    },
  };

  /** Those of whom it is true. */
  async function endThose(isOver: (owner: TerminalOwner) => boolean): Promise<void> {
    const over = [...all.values()].filter(({ owner }) => isOver(owner));
    await Promise.all(over.map(({ sandbox }) => sandbox.close()));
  }

  function find(owner: TerminalOwner, id: string): Terminal {
    const known = all.get(id);
    if (known && isSame(known.owner, owner)) return known.terminal;
    throw new AppError('E_NOT_FOUND', 'there is no such terminal any more', { details: { terminal: id } });
  }

  async function open(owner: TerminalOwner, size: TerminalSize): Promise<Terminal> {
    const { accountId } = owner;
    const count = [...all.values()].filter((known) => known.owner.accountId === accountId).length;
    const pending = opening.get(accountId) ?? 0;
    if (count + pending >= perAccount)
      throw new AppError('E_TOO_MANY', `${perAccount} terminals of this account are open; close one first`);
    opening.set(accountId, pending + 1);
    try {
      return await startIn(owner, await openSandbox(owner), size);
    } finally {
      opening.set(accountId, (opening.get(accountId) ?? 1) - 1);
    }
  }

  async function startIn(owner: TerminalOwner, sandbox: Sandbox, size: TerminalSize): Promise<Terminal> {
    try {
      return start(owner, sandbox, size);
    } catch (thrown) {
      await sandbox.close().catch(() => {});
      throw thrown;
    }
  }

  function start(owner: TerminalOwner, sandbox: Sandbox, size: TerminalSize): Terminal {
    const { signal } = new AbortController();
    const running = sandbox.start({ argv: ['bash', '-l'], terminal: size, hasInput: true, signal });
    const terminal = createTerminal({ id: crypto.randomUUID(), running, graceMs });
    all.set(terminal.id, { owner, terminal, sandbox });
    void terminal.ended.finally(() => {
      all.delete(terminal.id);
      // What cannot be taken away is the operator's to see to: it must not end the server.
      sandbox.close().catch(() => {});
    });
    return terminal;
  }
}

function isSame(one: TerminalOwner, other: TerminalOwner): boolean {
  const names = ['accountId', 'person', 'sandboxId', 'workspaceId'] as const;
  return names.every((name) => one[name] === other[name]);
}
