import { z } from 'zod';
import { defineTool } from '../core/tools/tool.ts';
import { mustHaveTransactions } from '../core/workspace/must-have-history.ts';

export const transactionDiscard = defineTool({
  name: 'transaction_discard',
  title: 'Discard a transaction',
  description: 'Throw the changes of a bash transaction away. The workspace is as it is.',
  toolset: 'history',
  access: 'write',
  reach: 'one',
  input: z.object({ transaction: z.string().min(1).describe('From the answer of bash with transaction: true') }),
  output: z.object({ discarded: z.string() }),
  async run({ transaction }, { workspace, session }) {
    await mustHaveTransactions(workspace).discard(session.id, transaction);
    return { text: `discarded ${transaction}`, structured: { discarded: transaction } };
  },
});
