import { AppError } from '@croft/protocol';
import { sha256InTurns } from '../../../lib/crypto/sha256.ts';
import type { CurrentFile } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { EditPlan, PlannedFile } from './plan-edits.ts';

type ApplyContext = Pick<ToolContext, 'workspace' | 'session'>;

/** Takes back one step. */
type Revert = () => Promise<unknown>;

/**
 * Writes all files of a plan or none: each only if it still has the version that was planned for, otherwise `E_STALE`.
 * If one cannot be written, those before it get their bytes back. Returns the paths that have new content.
 */
export async function applyPlan({ files, moves }: EditPlan, context: ApplyContext): Promise<string[]> {
  const reverts: Revert[] = [];
  try {
    await mustBeCurrent(files, context);
    for (const file of files) reverts.push(await writeOne(file, context));
    for (const move of moves) reverts.push(await moveOne(move, context));
  } catch (thrown) {
    const failed = await revertAll(reverts);
    if (failed.length === 0) throw thrown;
    const { code, message } = AppError.from(thrown);
    throw new AppError(code, `${message}; these files could not be changed back: ${failed.join('; ')}`, {
      hint: 'Look at the named files: they may have the new content. All other files are as they were.',
    });
  }
  return files.map(({ path }) => moves.reduce(movedPath, path));
}

function movedPath(path: string, { from, to }: EditPlan['moves'][number]): string {
  if (path === from) return to;
  return path.startsWith(`${from}/`) ? `${to}${path.slice(from.length)}` : path;
}

/** Checks every version before the first write: most conflicts are found here, and then nothing was touched. */
async function mustBeCurrent(files: readonly PlannedFile[], { workspace }: ApplyContext): Promise<void> {
  for (const { path, version } of files)
    if ((await workspace.files.version(path))?.version !== version) throw stale(path);
}

async function writeOne({ path, version, after }: PlannedFile, { workspace, session }: ApplyContext): Promise<Revert> {
  let held: Buffer | undefined;
  let wasSeen = false;
  const { written } = await workspace.files.change(path, async (current) => {
    if (current?.version !== version) throw stale(path);
    held = await current.content();
    wasSeen = hasSeen(session, workspace.name, current);
    return { bytes: after };
  });
  // The session then knows the parts that it has read, and those that the answer shows.
  if (wasSeen) session.reads.saw(workspace.name, { ...written, version: await sha256InTurns(after) });
  return async () => {
    const before = held;
    if (before) await workspace.files.write(path, before, { expect: { version: written.version } });
  };
}

function hasSeen({ reads }: ApplyContext['session'], workspace: string, current: CurrentFile): boolean {
  try {
    reads.mustHaveSeen(workspace, current, 'rename in', current.path);
    return true;
  } catch {
    return false;
  }
}

async function moveOne({ from, to }: EditPlan['moves'][number], { workspace }: ApplyContext): Promise<Revert> {
  await workspace.files.rename(from, to);
  return () => workspace.files.rename(to, from);
}

async function revertAll(reverts: readonly Revert[]): Promise<string[]> {
  const failed: string[] = [];
  for (const revert of reverts.toReversed())
    await revert().catch((thrown) => failed.push(AppError.from(thrown).message));
  return failed;
}

function stale(path: string): AppError {
  return new AppError('E_STALE', `nothing was changed: ${path} changed after the edits were made for it`, {
    details: { path },
    hint: 'Make the call again without apply, and review the new diff.',
  });
}
