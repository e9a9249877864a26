import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { newAgent, startCluster } from '../packages/croft/test/cluster/fixture.ts';
import { startPostgres } from '../packages/croft/test/support/servers/postgres.ts';
import { audit } from './audit.ts';
import { type Bench, type Row, toRow, toUnmeasuredRow } from './bench.ts';
import { atMostTimes } from './goals.ts';
import { summarize } from './statistics.ts';

const goal = atMostTimes(1, { plusMs: 0.5 });
const against = 'the same call at the server with the workspace';
const rounds = 1500;
const warmUp = 300;

/** Several servers on one database: how many calls they record together, and how long a forwarded request takes. */
export const cluster: Bench = {
  name: 'cluster',
  async run(say, only) {
    const { rows } = await audit.run(say, only);
    say('forwarded calls');
    return {
      rows: [...rows, ...(await measureForwarding())],
      about: { figures: 'servers and database share the processors' },
    };
  },
};

async function measureForwarding(): Promise<Row[]> {
  const what = 'forwarded call: read over REST';
  await using postgres = await startPostgres();
  if (!postgres) return [toUnmeasuredRow({ what, against, goal }, 'no PostgreSQL')];
  await using servers = await startCluster(postgres, { args: ['--account-limit', 'requests=100000000'] });
  const { agent } = await newAgent(servers.at(0));
  await servers.at(0).call(agent, 'write', { file_path: 'a.txt', content: 'one\n' });
  const path = `/v1/agents/${agent}/tools/read`;
  const [here, there] = [0, 1].map((index) => createCaller({ ...servers.at(index), path }));
  const times = { ours: [] as number[], theirs: [] as number[] };
  for (let round = -warmUp; round < rounds; round++)
    for (const [side, call] of [['ours', there] as const, ['theirs', here] as const]) {
      const ms = (await call?.()) ?? Number.NaN;
      if (round >= 0) times[side].push(ms);
    }
  return [toRow({ what, against, goal, ours: summarize(times.ours), theirs: summarize(times.theirs) })];
}

/** Calls over one connection. Returns how long each call took. */
function createCaller({ url, secret, path }: { url: string; secret: string; path: string }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const body = JSON.stringify({ file_path: 'a.txt' });
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return async (): Promise<number> => {
    const startedAt = performance.now();
    const sent = request(new URL(path, url), { method: 'POST', agent, headers });
    sent.end(body);
    const [answer] = await once(sent, 'response');
    answer.resume();
    await once(answer, 'end');
    if (answer.statusCode !== 200) throw new Error(`a call was answered with ${answer.statusCode}`);
    return performance.now() - startedAt;
  };
}
