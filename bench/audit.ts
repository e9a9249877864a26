import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { startPostgres } from '../packages/croft/test/support/servers/postgres.ts';
import type { AuditTurn } from './audit-server.ts';
import { type Bench, type Row, type Say, toRow, toUnmeasuredRow } from './bench.ts';
import { atLeast, atLeastTimes, type Goal } from './goals.ts';
import { type Summary, summarize } from './statistics.ts';

const program = join(import.meta.dirname, 'audit-server.ts');
const counts = [1, 2, 4] as const;
/** Sessions of each server, all of which wait for a call. */
const sessions = 40;
const rounds = 5;
const seconds = 2;
const unit = 'calls/s';

/** Calls of accounts that one database takes: the beginning, the end and the session of each, of one and several servers. */
export const audit: Bench = {
  name: 'audit',
  async run(say) {
    await using postgres = await startPostgres();
    const [what, goal] = ['audited calls, PostgreSQL', atLeast(3000, unit)];
    if (!postgres) return { rows: [toUnmeasuredRow({ what, goal }, 'no PostgreSQL')] };
    const rows = await measure(await postgres.createDatabase(), say);
    return {
      rows,
      about: { figures: `${sessions} sessions a server; servers, database and bench share the processors` },
    };
  },
};

async function measure(url: string, say: Say): Promise<Row[]> {
  await using servers = new AsyncDisposableStack();
  const key = randomBytes(32).toString('hex');
  const all: ChildProcess[] = [];
  // Servers start one after the other, because the first one makes the tables.
  for (let index = 0; index < Math.max(...counts); index++) all.push(await startServer(url, index, key, servers));
  const figures = new Map<number, number[]>(counts.map((count) => [count, []]));
  for (let round = -1; round < rounds; round++)
    for (const count of counts) {
      say(`${count} servers, round ${round}`);
      const calls = await takeTurn(all.slice(0, count));
      if (round >= 0) figures.get(count)?.push(calls / seconds);
    }
  const [one, ...more] = counts.map((count) => summarize(figures.get(count) ?? []));
  return one
    ? [toAuditRow(1, one, atLeast(3000, unit)), ...more.map((each, index) => toManyRow(index, each, one))]
    : [];
}

function toManyRow(index: number, ours: Summary, theirs: Summary): Row {
  return toAuditRow(counts[index + 1] ?? 0, ours, atLeastTimes(1), theirs);
}

function toAuditRow(count: number, ours: Summary, goal: Goal, theirs?: Summary): Row {
  const what = `audited calls, PostgreSQL, servers: ${count}`;
  return toRow({ what, unit, ours, goal, ...(theirs && { theirs, against: 'one server' }) });
}

async function takeTurn(servers: readonly ChildProcess[]): Promise<number> {
  const turn: AuditTurn = { seconds, sessions };
  const answers = servers.map(async (server) => {
    const answer = once(server, 'message');
    server.send(turn);
    return Number((await answer)[0].calls);
  });
  return (await Promise.all(answers)).reduce((sum, calls) => sum + calls, 0);
}

/** A process with the records of a server and nothing else of it. */
async function startServer(
  url: string,
  index: number,
  key: string,
  servers: AsyncDisposableStack,
): Promise<ChildProcess> {
  const child = fork(program, [url, `server-${index}`], { env: { ...process.env, BENCH_AUDIT_KEY: key } });
  const ended = once(child, 'exit');
  servers.defer(async () => {
    if (child.connected) child.disconnect();
    await ended;
  });
  await Promise.race([once(child, 'message'), ended.then(() => Promise.reject(new Error('an audit server ended')))]);
  return child;
}
