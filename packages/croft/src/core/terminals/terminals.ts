import { AppError } from '@croft/protocol';
import type { RunningProgram, Sandbox, TerminalSize } from '../commands/sandbox.ts';
import { createSandboxTerminal, type SandboxTerminal, type TerminalEnd, type TerminalViewer } from './terminal.ts';

/** The owner and the place of a terminal. Nobody else can attach to it. */
export interface TerminalOwner {
  readonly accountId: string;
  /** The key or the admin that asked for it. */
  readonly person: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
}

export interface TerminalRequest {
  readonly size: TerminalSize;
  /** Id of an open terminal to attach to. Absent: a new one is opened. */
  readonly terminal?: string | undefined;
  readonly from?: number | undefined;
}

interface TerminalsOptions {
  /** Throws `E_NOT_FOUND` or `E_SANDBOX_UNAVAILABLE`: a terminal never runs anywhere else. */
  openSandbox(owner: TerminalOwner): Promise<Sandbox>;
  readonly graceMs: number;
  /** Terminals of one account that are open at once. Absent: 50. */
  readonly perAccount?: number | undefined;
  /** Called before the shell starts. If it throws, no shell starts. */
  onOpen(owner: TerminalOwner, id: string): Promise<void>;
  /** Called once for every `onOpen` that did not throw. Never throws. */
  onClosed(owner: TerminalOwner, id: string, end: TerminalEnd): Promise<void>;
}

/** What every viewer understands: editors need to move the cursor. The prompt says where the person is. */
const environment = { TERM: 'xterm-256color', COLORTERM: 'truecolor', PS1: '\\[\\e[36m\\]\\w\\[\\e[m\\] \\$ ' };

interface Open {
  readonly owner: TerminalOwner;
  readonly terminal: SandboxTerminal;
  /** Closes its sandbox and reports the end. Does so once. */
  close(end: TerminalEnd): Promise<void>;
}

export type Terminals = ReturnType<typeof createTerminals>;

/** The terminals of a server, each in a sandbox of its own. */
export function createTerminals({ openSandbox, graceMs, perAccount = 50, onOpen, onClosed }: TerminalsOptions) {
  const all = new Map<string, Open>();
  const opening = new Map<string, number>();

  return {
    /** Opens a terminal, or attaches to an open one. */
    async enter(owner: TerminalOwner, request: TerminalRequest, viewer: TerminalViewer): Promise<SandboxTerminal> {
      const { size, terminal: id, from } = request;
      const terminal = id === undefined ? await open(owner, size) : find(owner, id);
      terminal.attach(viewer, from);
      terminal.resize(size);
      return terminal;
    },
    endThose,
    endOf: (accountId: string) => endThose((owner) => owner.accountId === accountId, 'the account was removed'),
    owners: (): TerminalOwner[] => [...all.values()].map(({ owner }) => owner),
    close: () => endThose(() => true, 'the server stopped'),
  };

  /** Ends the terminals for which `isOver` is true. */
  async function endThose(isOver: (owner: TerminalOwner) => boolean, reason: string): Promise<void> {
    const over = [...all.values()].filter(({ owner }) => isOver(owner));
    await Promise.all(over.map(({ close }) => close({ reason })));
  }

  function find(owner: TerminalOwner, id: string): SandboxTerminal {
    const known = all.get(id);
    if (known && isSame(known.owner, owner)) return known.terminal;
    throw hasEnded(id);
  }

  async function open(owner: TerminalOwner, size: TerminalSize): Promise<SandboxTerminal> {
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

  async function startIn(owner: TerminalOwner, sandbox: Sandbox, size: TerminalSize): Promise<SandboxTerminal> {
    const id = crypto.randomUUID();
    const close = once(async (end: TerminalEnd) => {
      all.delete(id);
      // A sandbox that cannot be closed must not end the server.
      await Promise.all([sandbox.close().catch(() => {}), onClosed(owner, id, end)]);
    });
    try {
      await onOpen(owner, id);
    } catch (thrown) {
      await sandbox.close().catch(() => {});
      throw thrown;
    }
    try {
      return await start({ owner, close }, sandbox, { id, size });
    } catch (thrown) {
      await close({ reason: `the shell did not start: ${AppError.from(thrown).message}` });
      throw thrown;
    }
  }

  async function start(
    known: Omit<Open, 'terminal'>,
    sandbox: Sandbox,
    { id, size }: { id: string; size: TerminalSize },
  ) {
    const terminal = createSandboxTerminal({ id, running: await startShell(sandbox, size), graceMs });
    all.set(id, { ...known, terminal });
    void terminal.ended.then(known.close);
    return terminal;
  }
}

async function startShell(sandbox: Sandbox, size: TerminalSize): Promise<RunningProgram> {
  const command = { argv: ['bash', '-l'], environment, signal: new AbortController().signal } as const;
  await sandbox.ready?.(command);
  return sandbox.start({ ...command, terminal: size, hasInput: true });
}

function hasEnded(terminal: string): AppError {
  const hint = 'Open another terminal.';
  return new AppError('E_NOT_FOUND', 'this terminal has ended', { details: { terminal }, hint });
}

/** Runs `work` once: later calls get the first answer. */
function once<T>(work: (argument: T) => Promise<void>): (argument: T) => Promise<void> {
  let first: Promise<void> | undefined;
  return (argument) => {
    first ??= work(argument);
    return first;
  };
}

function isSame(one: TerminalOwner, other: TerminalOwner): boolean {
  const names = ['accountId', 'person', 'sandboxId', 'workspaceId'] as const;
  return names.every((name) => one[name] === other[name]);
}
