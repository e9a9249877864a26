import type { AuditRecord } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { UsageError } from '../../lib/usage-error.ts';
import type { Values } from '../command.ts';
import { defineClientCommand } from '../define-client-command.ts';
import { describeAuditRow } from '../events/render-log-line.ts';
import { outputOptions, printRows } from '../output/print-rows.ts';
import { agentKind, findRecord } from '../records/find-record.ts';

const options = {
  lines: { type: 'string', short: 'n', value: 'N', summary: 'how many rows, 1 to 200 (50)' },
  after: { type: 'string', value: 'NEXT', summary: 'go on after another page: `next` of its --json' },
  order: {
    type: 'string',
    value: 'ORDER',
    completes: ['newest', 'oldest'],
    summary: 'newest (the default) or oldest first',
  },
  agent: { type: 'string', value: 'NAME', completes: 'agents', summary: 'only of this agent, by name or id' },
  workspace: { type: 'string', value: 'NAME', summary: 'only in this workspace, by its id or as the agent calls it' },
  tool: { type: 'string', value: 'NAME', summary: 'only calls of this tool' },
  kind: {
    type: 'string',
    value: 'KIND',
    summary: 'only rows of this kind: call, approval, violation or change',
    completes: ['call', 'approval', 'violation', 'change'],
  },
  outcome: {
    type: 'string',
    value: 'OUTCOME',
    summary: 'only calls that ended so: ok, error, asked, denied or violation',
    completes: ['ok', 'error', 'asked', 'denied', 'violation'],
  },
  from: { type: 'string', value: 'TIME', summary: 'not before this time, such as 2026-11-19T08:00:00Z' },
  to: { type: 'string', value: 'TIME', summary: 'not after this time' },
  text: { type: 'string', value: 'TEXT', summary: 'only rows with this text anywhere' },
  ...outputOptions,
} as const;

/** Rows of the account's own audit trail, as the server answers them. */
export const list = defineClientCommand({
  name: 'audit list',
  usage: '[-n N] [--agent NAME] [--tool NAME] [--outcome OUTCOME] [--from TIME] [--text TEXT] … [--json | -q]',
  summary: 'rows of the trail of your account, the newest first, by agent, tool, time and more',
  examples: [
    'croft audit list',
    'croft audit list --agent writer --tool bash -n 100',
    'croft audit list --text "npm publish" --json',
  ],
  options,
  takes: [0, 0],
  async run({ client, values, terminal }) {
    const agents = await Array.fromAsync(client.agents.all());
    const agent = values.agent === undefined ? undefined : findRecord(agents, values.agent, agentKind).agentId;
    const page = await client.audit.list({
      ...toFilter(values),
      agent,
      limit: toLimit(values.lines),
      after: values.after,
    });
    const names = new Map(agents.map(({ agentId, name }) => [agentId, name]));
    const columns = toColumns((id) => names.get(id) ?? id);
    printRows({ columns, idOf: ({ sequence }) => String(sequence), rows: page.audit, answer: page }, values, terminal);
    if (page.next !== undefined && !values.json) terminal.stderr.write(`there are more: --after ${page.next}\n`);
  },
});

/** Converts flags to a filter. The server checks the values, and its error names the valid ones. */
function toFilter({ order = 'newest', workspace, tool, kind, outcome, from, to, text }: Values<typeof options>) {
  return { order, workspace, tool, kind, outcome, from, to, text } as Parameters<Client['audit']['list']>[0];
}

function toColumns(nameOf: (id: string) => string) {
  return {
    row: ({ sequence }: AuditRecord) => sequence,
    at: ({ at }: AuditRecord) => at,
    who: (record: AuditRecord) => nameOf(describeAuditRow(record).who),
    action: ({ action }: AuditRecord) => action,
    about: (record: AuditRecord) => describeAuditRow(record).about,
    result: (record: AuditRecord) => describeAuditRow(record).how,
  };
}

function toLimit(given = '50'): number {
  const count = Number(given);
  if (Number.isSafeInteger(count) && count >= 1 && count <= 200) return count;
  throw new UsageError(`--lines takes a number of rows from 1 to 200, not ${given}`);
}
