import { AppError } from '@croft/protocol';
import type { FileStat } from '../../files/files.ts';
import type { ToolContext } from '../../tools/tool.ts';
import type { FileMove } from '../ports/code-questions.ts';
import { applyPlan } from './apply-plan.ts';
import { type EditPlan, planEdits } from './plan-edits.ts';

interface MovedWithImports {
  readonly kind: FileStat['kind'];
  readonly plan: EditPlan;
  /** Paths that have new content or a new name. */
  readonly touched: readonly string[];
}

/** Moves a file or a directory and changes the imports of other files: all of it or nothing. */
export async function moveWithImports(move: FileMove, context: ToolContext): Promise<MovedWithImports> {
  const { workspace } = context;
  const { kind } = await workspace.files.stat(move.from);
  await mustBeFree(move.to, context);
  const edits = await workspace.code.move(move, context).catch(explainNoServer);
  const plan = await planEdits({ ...edits, moves: [...edits.moves, move] }, context);
  const edited = await applyPlan(plan, context);
  return { kind, plan, touched: kind === 'file' ? [...new Set([...edited, move.to])] : edited };
}

/** Throws before anything is written if the target of the move is taken. */
async function mustBeFree(to: string, { workspace }: ToolContext): Promise<void> {
  const there = await workspace.files.stat(to).catch((thrown) => {
    if (AppError.is(thrown) && thrown.code === 'E_FILE_NOT_FOUND') return undefined;
    throw thrown;
  });
  if (there) throw new AppError('E_ALREADY_EXISTS', `${to} is already there`, { details: { path: to } });
}

function explainNoServer(thrown: unknown): never {
  if (!AppError.is(thrown) || thrown.code !== 'E_NO_SERVER') throw thrown;
  const hint = 'Call move without update_imports, and change the imports that grep finds.';
  throw new AppError('E_NO_SERVER', `nothing was moved: ${thrown.message}`, { details: thrown.details, hint });
}
