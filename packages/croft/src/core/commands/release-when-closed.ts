import type { Sandbox } from './sandbox.ts';

/** Opens a sandbox. Calls `release` once: when the sandbox has closed, or when it could not be opened. */
export async function releaseWhenClosed(open: () => Promise<Sandbox>, release: () => void): Promise<Sandbox> {
  try {
    const sandbox = await open();
    sandbox.closed.then(release, release);
    return sandbox;
  } catch (thrown) {
    release();
    throw thrown;
  }
}
