import { defineClientCommand } from '../define-client-command.ts';
import { printChangedPaths, printChanges } from '../history/print-changes.ts';
import { outputOptions, printJson } from '../output/print-rows.ts';
import { findWorkspace } from '../records/find-workspace.ts';

export const diff = defineClientCommand({
  name: 'diff',
  usage: 'WORKSPACE [--since SNAPSHOT | --call CHECKPOINT] [--name-only] [--json]',
  examples: ['croft diff notes', 'croft diff notes --since green', 'croft diff notes --name-only'],
  options: {
    since: { type: 'string', value: 'SNAPSHOT', completes: 'snapshots', summary: 'everything since this snapshot' },
    call: { type: 'string', value: 'CHECKPOINT', summary: 'what this call changed; its id is in croft undo --list' },
    'name-only': { type: 'boolean', summary: 'only the paths, each with A, M or D' },
    json: outputOptions.json,
  },
  takes: [1, 1],
  words: ['workspaces'],
  async run({ client, values, words: [wanted], terminal }) {
    const { workspaceId } = await findWorkspace(client, wanted);
    const history = client.history(workspaceId);
    const { since, call } = values;
    const found =
      since === undefined ? await findCall(history, call) : { changes: await history.snapshots.diff(since) };
    if (values.json) return printJson(found ?? { changes: [] }, terminal.stdout);
    if (!found) terminal.stderr.write(`no call has changed ${wanted} yet\n`);
    else if (values['name-only']) printChangedPaths(found.changes, terminal);
    else printChanges(found.changes, terminal);
  },
});

type History = ReturnType<Parameters<Parameters<typeof defineClientCommand>[0]['run']>[0]['client']['history']>;

/** Finds the checkpoint of the named call, or of the last call that changed files. */
async function findCall(history: History, named: string | undefined) {
  const checkpointId = named ?? (await history.checkpoints(1))[0]?.checkpointId;
  return checkpointId === undefined ? undefined : history.diffOf(checkpointId);
}
