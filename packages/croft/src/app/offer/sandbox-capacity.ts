import { AppError } from '@croft/protocol';
import type { Sandbox } from '../../core/commands/sandbox.ts';

/** Limits the sandboxes of a runner to the operator's number: beyond it, servers get an error. */
export function createSandboxCapacity(capacity = Number.POSITIVE_INFINITY) {
  let taken = 0;
  const leave = () => {
    taken -= 1;
  };
  return {
    taken: () => taken,
    async counted(open: () => Promise<Sandbox>): Promise<Sandbox> {
      if (taken >= capacity)
        throw new AppError(
          'E_SANDBOX_UNAVAILABLE',
          `this runner has ${capacity} sandboxes open, which is its capacity`,
        );
      taken += 1;
      try {
        const sandbox = await open();
        sandbox.closed.then(leave, leave);
        return sandbox;
      } catch (thrown) {
        leave();
        throw thrown;
      }
    },
  };
}
