import { AppError } from '@croft/protocol';
import type { Sandbox } from '../../core/commands/sandbox.ts';

/** What a machine takes at once is its operator's to say: a server that asks for more gets none. */
export function createSandboxRoom(capacity = Number.POSITIVE_INFINITY) {
  let taken = 0;
  const leave = () => {
    taken -= 1;
  };
  return {
    taken: () => taken,
    async counted(open: () => Promise<Sandbox>): Promise<Sandbox> {
      if (taken >= capacity)
        throw new AppError('E_SANDBOX_UNAVAILABLE', `this runner takes ${capacity} sandboxes at once, and has them`);
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
