import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../packages/croft/test/support/servers/postgres.ts';
import { type Bench, type Row, type Say, toRow, toUnmeasuredRow } from './bench.ts';
import { atMostTimes } from './goals.ts';
import { type HttpServer, type McpSession, startHttpCroft } from './http-server.ts';
import { mainThreadMs } from './read-processes.ts';
import { openRestAccount } from './rest-client.ts';
import { makeScratch, toSource } from './scratch-trees.ts';
import { summarize } from './statistics.ts';
import type { ToolCall } from './stdio-client.ts';

const goal = atMostTimes(1.5);
const against = 'the same call by flags, over MCP';
const callsPerRound = 50;
const rounds = 12;
const warmUp = 3;
/** A limit high enough for the bench. */
const bounds = ['--account-limit', 'requests=100000000'];

/** Each session writes files of its own, because no session may overwrite a file that it has not read. */
const calls: Readonly<Record<string, (number: number, own: string) => ToolCall>> = {
  read: () => ({ tool: 'read', args: { file_path: 'small.ts' } }),
  write: (number, own) => ({
    tool: 'write',
    args: { file_path: `${own}-${number % 20}.ts`, content: toSource(number) },
  }),
  bash: () => ({ tool: 'bash', args: { command: 'true' } }),
};

/** Cost of one call of an account on the main thread: authentication, finding its agent, recording. */
export const accounts: Bench = {
  name: 'accounts',
  async run(say) {
    const rows = await measure('SQLite', [], say);
    await using postgres = await startPostgres();
    if (postgres) rows.push(...(await measure('PostgreSQL', ['--database-url', await postgres.createDatabase()], say)));
    else rows.push(toUnmeasuredRow({ what: 'account calls, PostgreSQL', against, goal }, 'no PostgreSQL'));
    return { rows, about: { figures: 'time of the main thread of the server per call' } };
  },
};

async function measure(records: string, args: readonly string[], say: Say): Promise<Row[]> {
  using scratch = makeScratch();
  const directory = join(scratch.path, 'work');
  mkdirSync(directory);
  writeFileSync(join(directory, 'small.ts'), toSource(0));
  await using server = await startHttpCroft(directory, [...bounds, ...args]);
  const agent = await (await openRestAccount(server)).newAgent('bench');
  const byFlags = await server.openSession();
  const faces = { REST: await agent.openSession(), MCP: await server.openSession(agent.mcp) };
  await faces.REST.call({ tool: 'write', args: { file_path: 'small.ts', content: toSource(0) } });
  const rows: Row[] = [];
  for (const [face, session] of Object.entries(faces))
    for (const [name, toCall] of Object.entries(calls)) {
      say(`${records}, ${name} over ${face}`);
      const times = await compareCpu(server, { ours: session, theirs: byFlags }, (number) => toCall(number, face));
      rows.push(toRow({ what: `account call: ${name} over ${face}, ${records}`, against, goal, ...times }));
    }
  return rows;
}

/**
 * Compares processor time in alternating batches of calls: one call alone is too short for the clock of the scheduler.
 */
async function compareCpu(
  { pid }: HttpServer,
  sides: { readonly ours: McpSession; readonly theirs: McpSession },
  toCall: (number: number) => ToolCall,
) {
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 0; round < warmUp + rounds; round++)
    for (const side of ['ours', 'theirs'] as const) {
      const before = mainThreadMs(pid);
      for (let number = 0; number < callsPerRound; number++) await sides[side].call(toCall(number));
      if (round >= warmUp) times[side].push((mainThreadMs(pid) - before) / callsPerRound);
    }
  return { ours: summarize(times.ours), theirs: summarize(times.theirs) };
}
