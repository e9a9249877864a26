import { AppError } from '@croft/protocol';
import type { ToolContext } from '../../tools/tool.ts';
import type { LocatedSymbol, RenameQuestion } from '../ports/code-questions.ts';
import { type EditPlan, planEdits } from './plan-edits.ts';

interface RenamePlan extends EditPlan {
  readonly target: LocatedSymbol;
  readonly complete: boolean;
}

/** Works out a rename. Throws `E_NO_SERVER` without a server: a rename by text would change other names too. */
export async function planRename(question: RenameQuestion, context: ToolContext): Promise<RenamePlan> {
  const { workspace, session } = context;
  const { target, complete, ...edits } = await workspace.code.rename(question, context).catch(explainNoServer);
  const start = await workspace.files.version(target.path);
  if (start) session.reads.mustHaveSeen(workspace.name, start, 'rename from', target.path);
  return { target, complete, ...(await planEdits(edits, context)) };
}

function explainNoServer(thrown: unknown): never {
  if (!AppError.is(thrown) || thrown.code !== 'E_NO_SERVER') throw thrown;
  const hint =
    'Use ast_replace, or edit the places that find_references lists: a rename by text would change other names too.';
  throw new AppError('E_NO_SERVER', thrown.message, { details: thrown.details, hint });
}
