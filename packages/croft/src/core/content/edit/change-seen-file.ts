import { sha256InTurns } from '../../../lib/crypto/sha256.ts';
import type { ChangedFile, CurrentFile, NewContent } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';

/**
 * Changes a file after `decide` has checked that the session has read it. The new content counts as read from that
 * moment, not from the answer on: a parallel call of the same session would otherwise take these bytes for somebody
 * else's. A file of which the session has read only a part does not count as read afterwards either.
 */
export async function changeSeenFile<Decided extends NewContent>(
  { workspace, session }: Pick<ToolContext, 'workspace' | 'session'>,
  path: string,
  decide: (current: CurrentFile | undefined) => Decided | Promise<Decided>,
): Promise<ChangedFile<Decided>> {
  let replaced: CurrentFile | undefined;
  let isNew = false;
  try {
    const changed = await workspace.files.change(path, async (current) => {
      const change = await decide(current);
      isNew = current === undefined;
      if (!current || !session.reads.hasSeen(workspace.name, current)) return change;
      replaced = current;
      session.reads.saw(workspace.name, { ...current, version: await sha256InTurns(change.bytes) });
      return change;
    });
    if (!replaced && isNew) session.reads.saw(workspace.name, changed.written);
    return changed;
  } catch (thrown) {
    if (replaced) session.reads.saw(workspace.name, replaced);
    throw thrown;
  }
}
