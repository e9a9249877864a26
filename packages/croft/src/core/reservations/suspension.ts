import type { Sandbox } from '../commands/sandbox.ts';

/** Stops the programs of a sandbox that nobody uses, and lets them continue with its next use. */
export function createSuspension(sandbox: Pick<Sandbox, 'suspend'>, onState: (state: 'suspended' | 'resumed') => void) {
  let resume: (() => void) | undefined;
  let isResumeDue = false;
  let resuming: Promise<void> | undefined;

  function thaw(): void {
    if (!resume) return;
    const letContinue = resume;
    resume = undefined;
    letContinue();
    onState('resumed');
  }

  return {
    isSuspended: () => resume !== undefined,
    /** Returns false if the provider cannot stop the programs of a sandbox. */
    suspend(): boolean {
      resume ??= sandbox.suspend?.();
      if (!resume) return false;
      isResumeDue = true;
      onState('suspended');
      return true;
    },
    thaw,
    /** Runs `onResume` once after the programs were stopped. If it fails, the call fails, and the next one tries again. */
    async prepare(run: () => Promise<void>): Promise<void> {
      thaw();
      if (!isResumeDue) return;
      resuming ??= run()
        .then(() => {
          isResumeDue = false;
        })
        .finally(() => {
          resuming = undefined;
        });
      await resuming;
    },
  };
}
