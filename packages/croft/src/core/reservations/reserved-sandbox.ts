import type { SandboxConfig } from '../accounts/ports/registry.ts';
import type { ReservationKey } from '../accounts/ports/reservation-table.ts';
import { needsNewSandbox } from '../accounts/surface/find-sandbox-narrowing.ts';
import type { Sandbox, SandboxDenial } from '../commands/sandbox.ts';
import { runSetUp } from '../commands/set-up-sandbox.ts';
import { isExpired, lifetimeSeconds } from './lifetime.ts';
import { createSharedSandbox } from './shared-sandbox.ts';
import { createSuspension } from './suspension.ts';

/** After this time without use, the programs of a persistent sandbox are stopped, unless its record says otherwise. */
const usualIdleSeconds = 900;

export type ReservationState = 'created' | 'reopened' | 'suspended' | 'resumed' | 'ended';

interface ReservedSandboxOptions {
  readonly key: ReservationKey;
  readonly sandbox: Sandbox;
  readonly config: SandboxConfig;
  readonly createdAt: string;
  onState(state: ReservationState, reason?: string): void;
  /** Called when it takes no more sessions. May be called more than once. */
  onEnd(): void;
}

export type ReservedSandbox = ReturnType<typeof createReservedSandbox>;

/**
 * An open persistent sandbox. It outlives its sessions: without use its programs are stopped, with the next use they
 * continue, and it ends with its lifetime.
 */
export function createReservedSandbox({ key, sandbox, createdAt, onState, onEnd, ...options }: ReservedSandboxOptions) {
  let { config } = options;
  let isRetired = false;
  let ending: Promise<void> | undefined;
  const suspension = createSuspension(sandbox, onState);
  const shared = createSharedSandbox(sandbox, {
    thaw: suspension.thaw,
    ready: () => suspension.prepare(() => runSetUp(sandbox, config.onResume ?? [])),
    onLeft: endIfUnused,
  });
  sandbox.closed.then(onEnd, onEnd);
  void sandbox.ended?.then(onEnd);

  return {
    key,
    /** Whether a session with this config can use it. */
    fits: (wanted: SandboxConfig) => !ending && !isRetired && !needsNewSandbox(config, wanted),
    /** Applies a config that fits: its lifecycle, and what runs after the programs were stopped. */
    adopt(wanted: SandboxConfig): void {
      config = wanted;
    },
    share: (): Sandbox => ({ ...shared.share(), end }),
    isSuspended: suspension.isSuspended,
    idleMs: shared.idleMs,
    /**
     * Called when the settings of the sandbox changed: programs of its sessions continue, and it ends with the last
     * session.
     */
    retire(): void {
      isRetired = true;
      onEnd();
      shared.retire();
      endIfUnused();
    },
    end,
    /** Ends it after its lifetime, or stops its programs after its idle time. Returns whether it was its lifetime. */
    async check(now: Date): Promise<boolean> {
      if (isExpired(createdAt, config, now)) {
        await end('its lifetime is over', toLifetimeDenial(config));
        return true;
      }
      const idleSeconds = config.lifecycle?.idleTimeoutSeconds ?? usualIdleSeconds;
      const isIdle = !ending && !suspension.isSuspended() && shared.idleMs() >= idleSeconds * 1000;
      // An idle sandbox must not use the machine for days.
      if (isIdle && !suspension.suspend()) await end('it was idle, and its provider cannot stop its programs');
      return false;
    },
  };

  function endIfUnused(): void {
    if (isRetired && !shared.isShared()) void end('its settings changed');
  }

  function end(reason: string, denial?: SandboxDenial): Promise<void> {
    ending ??= endNow(reason, denial);
    return ending;
  }

  /** The init inside is stopped with the programs, and ends them only when it continues. */
  async function endNow(reason: string, denial?: SandboxDenial): Promise<void> {
    suspension.thaw();
    onEnd();
    await shared.end(`the persistent sandbox has ended: ${reason}`, denial).catch(() => {});
    onState('ended', reason);
  }
}

function toLifetimeDenial(config: SandboxConfig): SandboxDenial {
  return {
    layer: 'limit',
    rule: 'maxLifetimeSeconds',
    target: `${lifetimeSeconds(config)} s`,
    next: 'The sandbox has ended with everything in it. The next command gets a new one. Ask the owner of the sandbox record for a longer lifecycle.maxLifetimeSeconds.',
  };
}
