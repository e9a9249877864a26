import { AppError } from '@croft/protocol';
import { releaseWhenClosed } from '../../core/commands/release-when-closed.ts';
import type { Sandbox } from '../../core/commands/sandbox.ts';

/** Limits the sandboxes of a runner to the operator's number: beyond it, servers get an error. */
export function createSandboxCapacity(capacity = Number.POSITIVE_INFINITY) {
  let taken = 0;
  return {
    taken: () => taken,
    async counted(open: () => Promise<Sandbox>): Promise<Sandbox> {
      if (taken >= capacity)
        throw new AppError(
          'E_SANDBOX_UNAVAILABLE',
          `this runner has ${capacity} sandboxes open, which is its capacity; nothing was run. End a session that has one of them first`,
        );
      taken += 1;
      return releaseWhenClosed(open, () => {
        taken -= 1;
      });
    },
  };
}
