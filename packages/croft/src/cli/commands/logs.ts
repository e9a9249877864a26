import type { AccountEvent } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import { UsageError } from '../../lib/usage-error.ts';
import { type ClientCall, defineClientCommand } from '../define-client-command.ts';
import { type LogLine, renderLogLine, toAuditLine, toLogLine } from '../events/render-log-line.ts';
import { toSignalCode } from '../output/exit-codes.ts';
import { isTerminal } from '../output/print-rows.ts';
import { agentKind, findRecord } from '../records/find-record.ts';

const options = {
  follow: { type: 'boolean', short: 'f', summary: 'go on with what happens, also after a cut connection' },
  agent: { type: 'string', value: 'NAME', completes: 'agents', summary: 'only of this agent, by name or id' },
  lines: { type: 'string', short: 'n', value: 'N', summary: 'how many of the last lines (20)' },
  after: { type: 'string', value: 'ID', summary: 'with -f: go on after this event; --json shows the id of each' },
  json: { type: 'boolean', summary: 'print JSON lines, exactly as the event stream of REST has them' },
} as const;

type Call = ClientCall<typeof options>;

export const logs = defineClientCommand({
  name: 'logs',
  usage: '[-f [--after ID]] [--agent NAME] [-n N] [--json]',
  examples: ['croft logs', 'croft logs -f --agent writer', 'croft logs -n 100 --json'],
  options,
  takes: [0, 0],
  async run(call) {
    const { client, terminal, values } = call;
    if (values.after !== undefined && !values.follow) throw new UsageError('--after goes with -f');
    const agents = await Array.fromAsync(client.agents.all());
    const agentId = values.agent === undefined ? undefined : findRecord(agents, values.agent, agentKind).agentId;
    const names = new Map(agents.map((agent) => [agent.agentId, agent.name]));
    const print = createPrinter(call, names, agentId);
    const position = values.after ?? (await printPast({ client, agentId, count: toCount(values.lines), print }));
    if (values.follow)
      for await (const event of client.events({ after: position, signal: terminal.stop })) print(event);
    return terminal.stop.aborted ? toSignalCode(terminal.stop) : undefined;
  },
});

type Print = (event: AccountEvent & { id?: string }) => void;

interface Past {
  readonly client: Client;
  readonly agentId: string | undefined;
  readonly count: number;
  readonly print: Print;
}

/** Prints the last rows, the oldest first, and returns the position after them. */
async function printPast({ client, agentId, count, print }: Past): Promise<string> {
  const rows: AccountEvent[] = [];
  let [after, position]: [string | undefined, string | undefined] = [undefined, undefined];
  do {
    const page = await client.audit.list({ order: 'newest', agent: agentId, limit: 200, after });
    position ??= page.position;
    for (const record of page.audit) if (toAuditLine(record)) rows.push({ type: 'audit', record });
    after = page.next;
  } while (after !== undefined && rows.length < count);
  for (const row of rows.slice(0, count).reverse()) print(row);
  return position;
}

function createPrinter({ values, terminal }: Call, names: ReadonlyMap<string, string>, agentId?: string): Print {
  const nameOf = (id: string) => names.get(id) ?? id;
  const shown = { nameOf, isForPerson: isTerminal(terminal.stdout) };
  const isWanted = ({ who }: LogLine) => agentId === undefined || who === agentId || who === '';
  return (event) => {
    const line = toLogLine(event);
    if (!line || !isWanted(line)) return;
    terminal.stdout.write(values.json ? `${JSON.stringify(event)}\n` : renderLogLine(line, shown));
  };
}

function toCount(given = '20'): number {
  const count = Number(given);
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new UsageError(`--lines takes a number of lines, such as 100, not ${given}`);
}
