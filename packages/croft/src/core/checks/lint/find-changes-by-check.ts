import type { Sandbox } from '../../commands/sandbox.ts';
import type { PathChange } from '../../history/ports/tree.ts';
import { maxRestoredBytes, maxRestoredFiles } from '../../history/transactions/restore-in-sandbox.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { type CheckRequest, runCheck } from '../run-check.ts';

type ProveContext = Pick<ToolContext, 'session' | 'workspace'>;

/** Time to open the layer, place the files and read what changed. The repeated check has its own time besides. */
const overheadMs = 60_000;

/**
 * Finds the changes that the check makes by itself. The check runs once more on a layer over the workspace, in which
 * these files are placed as they were before. A file that ends there as the workspace has it was changed by the check.
 * Every other change may be somebody else's.
 */
export async function findChangesByCheck(
  changes: readonly PathChange[],
  request: CheckRequest,
  { session, workspace: { transactions } }: ProveContext,
): Promise<readonly PathChange[]> {
  const candidates = choose(changes);
  if (!transactions || candidates.length === 0) return [];
  // The caller may be gone by now, and the files have to be put back all the same.
  const signal = AbortSignal.timeout(Math.ceil(request.timeoutMs) + overheadMs);
  // The first run has already reported its denials.
  const again = { ...request, signal, context: { ...request.context, refused: () => {} } };
  const repeat = (sandbox: Sandbox) => runCheck(sandbox, again);
  const title = `repeating ${request.argv[0]}`;
  const { transaction } = await transactions.begin(session.id, title, repeat, signal, candidates);
  await transactions.discard(session.id, transaction.id);
  const differing = new Set(transaction.changes.map(({ path }) => path));
  return candidates.filter(({ path }) => !differing.has(path));
}

/** The smallest files first, as far as the limits go. */
function choose(changes: readonly PathChange[]): PathChange[] {
  const sizeOf = ({ before }: PathChange) => before?.size ?? 0;
  let left = maxRestoredBytes;
  return changes
    .filter(canRestore)
    .toSorted((one, other) => sizeOf(one) - sizeOf(other))
    .slice(0, maxRestoredFiles)
    .filter((change) => {
      left -= sizeOf(change);
      return left >= 0;
    });
}

/**
 * Whether a path can be restored on the layer. A name that is not UTF-8 would become another name in the sandbox. A
 * directory, or a file that did not exist before, may contain the work of somebody else.
 */
function canRestore({ path, before, after }: PathChange): boolean {
  return path.isWellFormed() && before?.kind === 'file' && after?.kind !== 'directory';
}
