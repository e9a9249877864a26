import type { Client } from '@croft/sdk';
import { defineCommand } from '../command.ts';
import { keyOptions, openKeyClient, reportingErrors } from '../open-client.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { outputOptions, printJson, printRecord } from '../output/print-rows.ts';

export const status = defineCommand({
  name: 'status',
  usage: 'croft status [--json]',
  examples: ['croft status'],
  options: { ...keyOptions, json: outputOptions.json },
  takesOnlyFlags: true,
  run: ({ values }, terminal) =>
    reportingErrors(terminal, async () => {
      const { client, baseUrl } = openKeyClient(values, terminal);
      const answer = { server: baseUrl, ...(await look(client)) };
      if (values.json) printJson(answer, terminal.stdout);
      else printRecord(answer, terminal);
      const { waiting } = answer;
      if (waiting > 0) terminal.stderr.write('see and decide what waits with: croft approvals list -w\n');
      return exitCodes.done;
    }),
});

async function look(client: Client) {
  const health = await client.health();
  const { username, label, scopes } = await client.session.get();
  const approvals = await Array.fromAsync(client.approvals.all({ state: 'pending' }));
  const count = async (rows: AsyncIterable<unknown>) => (await Array.fromAsync(rows)).length;
  return {
    version: health.version,
    account: username,
    as: label,
    scopes: scopes.join(','),
    workspaces: await count(client.workspaces.all()),
    sandboxes: await count(client.sandboxes.all()),
    agents: await count(client.agents.all()),
    waiting: approvals.length,
  };
}
