import { AppError } from '@croft/protocol';
import type { Sandbox } from '../core/commands/sandbox.ts';

/** At most, of one account. */
export interface RoomLimits {
  /** Open at once, on this server. */
  readonly sandboxes: number;
  /** In all workspaces together. */
  readonly storageBytes: number;
}

export interface AccountRoomOptions {
  readonly limits: RoomLimits;
  /** What the workspaces of an account take up. May take long. */
  measure(accountId: string): Promise<number>;
  readonly now: () => number;
}

export type AccountRoom = ReturnType<typeof createAccountRoom>;

/** A figure is good for so long; what is written meanwhile is bounded by the sandbox. */
const staleMs = 30_000;

/** How much of this machine the accounts have taken. */
export function createAccountRoom({ limits, measure, now }: AccountRoomOptions) {
  const open = new Map<string, number>();
  const used = new Map<string, { bytes: number; at: number }>();

  return { openSandbox, checkStorage };

  async function openSandbox(accountId: string, opening: () => Promise<Sandbox>): Promise<Sandbox> {
    const count = open.get(accountId) ?? 0;
    if (count >= limits.sandboxes) throw full('sandboxes', `${limits.sandboxes} sandboxes are open`);
    open.set(accountId, count + 1);
    const leave = () => {
      const left = (open.get(accountId) ?? 1) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
    };
    try {
      const sandbox = await opening();
      void sandbox.closed.finally(leave);
      return sandbox;
    } catch (thrown) {
      leave();
      throw thrown;
    }
  }

  /**
   * Before something is written. The first look is waited for; after that nobody waits for a new one. `bytes` that are
   * about to be written count from now on, as if they had been there at the last look.
   */
  async function checkStorage(accountId: string, bytes = 0): Promise<void> {
    await lookAnew(accountId);
    const latest = used.get(accountId);
    const total = (latest?.bytes ?? 0) + bytes;
    if (total > limits.storageBytes)
      throw full('storage', `the workspaces of this account take up ${total} bytes, of at most ${limits.storageBytes}`);
    if (latest) latest.bytes = total;
  }

  async function lookAnew(accountId: string): Promise<void> {
    const known = used.get(accountId);
    if (known && now() - known.at <= staleMs) return;
    // Marked before it is done, so that one look is under way at a time.
    if (known) known.at = now();
    const looking = measure(accountId).then((bytes) => used.set(accountId, { bytes, at: now() }));
    if (known) void looking.catch(() => {});
    else await looking;
  }
}

function full(limit: string, message: string): AppError {
  return new AppError('E_QUOTA', message, { details: { limit, retryAfterSeconds: staleMs / 1000 } });
}
