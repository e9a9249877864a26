import type { Checkpoint } from '@croft/protocol';
import { UsageError } from '../../lib/usage-error.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { printReport } from '../history/print-changes.ts';
import { outputOptions, printJson, printRows, toCell } from '../output/print-rows.ts';
import { findWorkspace } from '../records/find-workspace.ts';

export const undo = defineClientCommand({
  name: 'undo',
  usage: 'WORKSPACE [--calls N | --call CHECKPOINT | --list] [--json | -q]',
  examples: ['croft undo notes --list', 'croft undo notes', 'croft undo notes --calls 3'],
  options: {
    calls: { type: 'string', value: 'N', summary: 'how many of the last calls (1)' },
    call: { type: 'string', value: 'CHECKPOINT', summary: 'this one call, by the id that --list shows' },
    list: { type: 'boolean', summary: 'the last calls that changed files, the newest first; nothing is taken back' },
    ...outputOptions,
  },
  takes: [1, 1],
  words: ['workspaces'],
  async run({ client, values, words: [wanted], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const history = client.history(workspaceId);
    if (values.list) {
      const rows = await history.checkpoints();
      return printRows({ columns, idOf, rows, answer: { checkpoints: rows } }, values, terminal);
    }
    const answer = await history.undo({ calls: toCount(values.calls), checkpointId: values.call });
    if (values.json) return printJson(answer, terminal.stdout);
    for (const { tool, title } of answer.undone) terminal.stderr.write(`took back ${tool} ${toCell(title)}\n`);
    if (answer.undone.length === 0) terminal.stderr.write('there is nothing to take back\n');
    printReport(answer, terminal);
    if (answer.takenBackBy !== undefined)
      terminal.stderr.write(`to have it again: croft undo ${wanted} --call ${answer.takenBackBy}\n`);
  },
});

const idOf = ({ checkpointId }: Checkpoint) => checkpointId;
const columns = {
  id: idOf,
  at: ({ at }: Checkpoint) => at,
  tool: ({ tool }: Checkpoint) => tool,
  paths: ({ paths }: Checkpoint) => paths,
  what: ({ title }: Checkpoint) => title,
  undone: ({ undoneBy }: Checkpoint) => undoneBy && 'undone',
};

function toCount(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new UsageError(`--calls takes a number of calls, such as 3, not ${given}`);
}
