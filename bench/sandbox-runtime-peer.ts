import { pathToFileURL } from 'node:url';
import { toEnd } from './bare-processes.ts';
import type { Say } from './bench.ts';
import type { Side } from './compare.ts';
import { installPeers, programOf } from './install-peers.ts';

export const peer = '@anthropic-ai/sandbox-runtime';

/** The part of the package that this bench uses. */
interface SandboxManager {
  checkDependencies(): { readonly errors: readonly string[] };
  initialize(config: unknown): Promise<void>;
  wrapWithSandbox(command: string, shell: string): Promise<string>;
  cleanupAfterCommand(): void;
  reset(): Promise<void>;
}

export interface SandboxRuntime extends AsyncDisposable {
  readonly side: Side;
}

/**
 * `bash -c true` as its manual says: wrapped, then given to a shell. The fence is as ours: no network, writes to the
 * workspace alone. It looks through the current directory for every command, so that is the workspace too.
 *
 * Answers with the reason, in one line, where it cannot run.
 */
export async function startSandboxRuntime(workspace: string, say: Say): Promise<SandboxRuntime | string> {
  try {
    await installPeers(say);
    const manager = await loadManager();
    const missing = await bringTools(manager, say);
    if (missing !== undefined) return missing;
    return await start(manager, workspace);
  } catch (thrown) {
    return (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/g, ' ');
  }
}

async function loadManager(): Promise<SandboxManager> {
  const module = (await import(pathToFileURL(programOf(peer, 'dist/index.js')).href)) as {
    SandboxManager: SandboxManager;
  };
  return module.SandboxManager;
}

/** Programs that it needs besides bubblewrap. Installed if this user may do so, otherwise reported. */
async function bringTools(manager: SandboxManager, say: Say): Promise<string | undefined> {
  const findMissing = () => manager.checkDependencies().errors.join(', ');
  if (findMissing() === '') return undefined;
  if (process.getuid?.() === 0) {
    say(`${findMissing()}: installing socat`);
    await toEnd(['apt-get', 'install', '-y', '--no-install-recommends', 'socat']).catch(() => {});
  }
  const missing = findMissing();
  return missing === '' ? undefined : `${missing}; install it with: sudo apt-get install -y socat ripgrep bubblewrap`;
}

async function start(manager: SandboxManager, workspace: string): Promise<SandboxRuntime> {
  const before = process.cwd();
  process.chdir(workspace);
  await manager.initialize({
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: { denyRead: [], allowWrite: [workspace], denyWrite: [] },
  });
  let hasRun = false;
  return {
    side: {
      // Clears away the leftovers of a command. Not timed.
      async prepare() {
        if (hasRun) manager.cleanupAfterCommand();
      },
      async run() {
        await toEnd([await manager.wrapWithSandbox('true', 'bash')], { shell: true });
        hasRun = true;
      },
    },
    async [Symbol.asyncDispose]() {
      await manager.reset();
      process.chdir(before);
    },
  };
}
