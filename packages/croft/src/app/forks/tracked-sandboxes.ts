import { AppError } from '@croft/protocol';
import type { Sandbox } from '../../core/commands/sandbox.ts';
import type { Workspace } from '../../core/workspace/workspace.ts';

/**
 * Tracks the sandboxes of workspaces that may be removed, whichever session opened them, so that they end with the
 * workspace.
 */
export function createTrackedSandboxes() {
  const open = new Map<string, Set<Promise<Sandbox>>>();

  /** Throws if the workspace was removed. `end` closes a sandbox that was being opened at that time. */
  function mustBeThere({ id, name }: Workspace): void {
    if (open.has(id)) return;
    const message = `the workspace ${JSON.stringify(name)} was removed`;
    throw new AppError('E_UNKNOWN_WORKSPACE', message, { details: { workspace: name } });
  }

  async function openIn(workspace: Workspace): Promise<Sandbox> {
    mustBeThere(workspace);
    const opening = workspace.openSandbox();
    open.get(workspace.id)?.add(opening);
    const forget = () => void open.get(workspace.id)?.delete(opening);
    opening.then(({ closed }) => closed.then(forget), forget);
    const sandbox = await opening;
    mustBeThere(workspace);
    return sandbox;
  }

  return {
    track(workspace: Workspace): Workspace {
      open.set(workspace.id, new Set());
      return { ...workspace, openSandbox: () => openIn(workspace) };
    },
    async end(id: string): Promise<void> {
      const all = [...(open.get(id) ?? [])];
      open.delete(id);
      await Promise.all(all.map((opening) => opening.then((sandbox) => sandbox.close()).catch(() => {})));
    },
  };
}
