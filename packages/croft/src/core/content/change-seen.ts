import { sha256 } from '../../lib/sha256.ts';
import type { Change, Changed, CurrentFile } from '../files.ts';
import type { ToolContext } from '../tool.ts';

/**
 * Changes a file of which `decide` says whether the session has seen it. What it decides on the session has seen from that
 * moment, and not from the answer on: of several calls at once, the next would take this one's bytes for another's.
 */
export async function changeSeen<Decided extends Change>(
  { workspace, session }: Pick<ToolContext, 'workspace' | 'session'>,
  path: string,
  decide: (current: CurrentFile | undefined) => Decided,
): Promise<Changed<Decided>> {
  let replaced: CurrentFile | undefined;
  try {
    const changed = await workspace.files.change(path, (current) => {
      const change = decide(current);
      replaced = current;
      if (current) session.reads.saw(workspace.name, { ...current, version: sha256(change.bytes) });
      return change;
    });
    if (!replaced) session.reads.saw(workspace.name, changed.written);
    return changed;
  } catch (thrown) {
    if (replaced) session.reads.saw(workspace.name, replaced);
    throw thrown;
  }
}
