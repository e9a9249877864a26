import type { Emit } from '../../events/emitter.ts';
import { addNotices } from '../../tools/result-notices.ts';
import type { ToolResult } from '../../tools/tool.ts';

const unreadNotice =
  'The changes of this call cannot be undone as a whole: Croft is still reading this workspace for the first time, and may not know what was there before. Later calls can be undone.';

/** The reason for a call that came before the whole workspace was read. */
export const notReadYet = 'the workspace has not been read as a whole yet';

/**
 * Adds a notice to each answer whose call cannot be undone, and emits one event when the history of a workspace stops
 * storing.
 */
export function createNotUndoableNotices(emit: Emit) {
  const paused = new Set<string>();
  return (answered: ToolResult, workspace: string, all: readonly string[]): ToolResult => {
    const reasons = all.filter((reason) => reason !== notReadYet);
    const result = reasons.length < all.length ? addNotices(answered, [unreadNotice]) : answered;
    if (reasons.length === 0) {
      paused.delete(workspace);
      return result;
    }
    const reason = reasons.join('; ');
    if (!paused.has(workspace)) emit('lifecycle.workspace.history', () => ({ workspace, state: 'paused', reason }));
    paused.add(workspace);
    const notice = `This call cannot be undone as a whole: the history of this workspace keeps no more, because ${reason}.`;
    return addNotices(result, [notice]);
  };
}
