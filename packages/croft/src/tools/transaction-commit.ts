import { AppError } from '@croft/protocol';
import { z } from 'zod';
import {
  renderPendingTransaction,
  toPendingTransactionOutput,
} from '../core/history/outputs/pending-transaction-output.ts';
import { defineTool } from '../core/tools/tool.ts';
import { findTransaction, mustHaveTransactions } from '../core/workspace/must-have-history.ts';

const Paths = z.array(z.string());

export const transactionCommit = defineTool({
  name: 'transaction_commit',
  title: 'Commit a transaction',
  description:
    'Make the changes of a bash transaction real: all of them, or none if one of the paths has changed in the workspace ' +
    'meanwhile (E_CONFLICT). Undo takes it back.',
  toolset: 'history',
  access: 'write',
  reach: 'one',
  input: z.object({ transaction: z.string().min(1).describe('From the answer of bash with transaction: true') }),
  output: z.object({
    added: Paths,
    changed: Paths,
    removed: Paths,
    refused: Paths.describe('Control files, which programs outside the sandbox obey: these are as they were'),
  }),
  preview: ({ transaction }, { workspace, session }) =>
    findTransaction(workspace, session.id, transaction).then(
      (found) => `${found.title}\n\n${renderPendingTransaction(toPendingTransactionOutput(found))}`,
      (thrown) => AppError.from(thrown).message,
    ),
  async run({ transaction }, { workspace, session, signal }) {
    const report = await mustHaveTransactions(workspace).commit(session.id, transaction, signal);
    const { added, changed, removed, refused } = report;
    const counts = `${added.length} added, ${changed.length} changed, ${removed.length} removed`;
    const kept =
      refused.length === 0
        ? ''
        : `\nleft as they were, because programs outside the sandbox obey them: ${refused.join(', ')}`;
    const named = (paths: readonly string[]) => paths.map((path) => path.toWellFormed());
    return {
      text: `committed: ${counts}${kept}`,
      structured: { added: named(added), changed: named(changed), removed: named(removed), refused: named(refused) },
    };
  },
});
