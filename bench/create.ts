import { bareSandbox } from './bare-processes.ts';
import { type Bench, type Row, type Say, toRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { atMost, atMostTimes } from './goals.ts';
import { type HttpServer, type HttpSession, startHttpCroft } from './http-server.ts';
import { openPort } from './open-provider-port.ts';
import { openRestAgent } from './rest-client.ts';
import { makeScratch } from './scratch-trees.ts';
import { summarize } from './statistics.ts';

interface Sessions {
  openSession(): Promise<HttpSession>;
}

const burst = 100;
const bursts = 5;
const against = 'bwrap per command';

/** Creates a sandbox and runs `true` in it, with no sandbox kept ready. Compared with a bare `bwrap`. */
export const create: Bench = {
  name: 'create',
  async run(say) {
    using scratch = makeScratch();
    const atPort = await atThePort(scratch.path, say);
    await using server = await startHttpCroft(scratch.path);
    const overRest = await once('REST', await openRestAgent(server), scratch.path, say);
    const overMcp = await once('HTTP MCP', server, scratch.path, say);
    return { rows: [atPort, overRest, overMcp, await atOnce(server, scratch.path, say)] };
  },
};

async function atThePort(path: string, say: Say): Promise<Row> {
  say('at the port');
  using port = openPort(path);
  const run = async () => {
    const sandbox = await port.open();
    await sandbox.run();
    void sandbox.close();
  };
  const times = await compare({ ours: { run }, theirs: { run: () => bareSandbox(path) }, rounds: 60, warmUp: 5 });
  return toRow({ what: 'create → first command, at the port', against, goal: atMostTimes(2), ...times });
}

async function once(door: string, sessions: Sessions, path: string, say: Say): Promise<Row> {
  say(`over ${door}`);
  const ours = firstCalls(sessions, 1);
  const times = await compare({ ours, theirs: { run: () => bareSandbox(path) }, rounds: 60, warmUp: 10 });
  return toRow({ what: `create → first command, over ${door}`, against, goal: atMost(40, 'ms'), ...times });
}

/** Every call and every `bwrap` counts by itself, from the moment in which all were sent. */
async function atOnce(server: HttpServer, path: string, say: Say): Promise<Row> {
  say(`${burst} at once, over HTTP`);
  const times = { ours: [] as number[], theirs: [] as number[] };
  const ours = firstCalls(server, burst, (ms) => times.ours.push(ms));
  const theirs = {
    run: () =>
      together(
        burst,
        () => bareSandbox(path),
        (ms) => times.theirs.push(ms),
      ),
  };
  await compare({ ours, theirs, rounds: bursts, warmUp: 0 });
  return toRow({
    what: `create → first command, ${burst} at once over HTTP MCP`,
    against: `${burst} × bwrap at once`,
    goal: atMost(500, 'ms', { at: 'p99' }),
    ours: summarize(times.ours),
    theirs: summarize(times.theirs),
  });
}

/** New sessions, and the first command of each. The handshake, and the end of those before, are not timed. */
function firstCalls(server: Sessions, count: number, onTime: (ms: number) => void = () => {}): Side {
  let sessions: HttpSession[] = [];
  return {
    async prepare() {
      await Promise.all(sessions.map((session) => session.end()));
      sessions = await Promise.all(Array.from({ length: count }, () => server.openSession()));
    },
    run: () => together(count, async (index) => sessions[index]?.bash('true'), onTime),
  };
}

async function together(
  count: number,
  work: (index: number) => Promise<unknown>,
  onTime: (ms: number) => void,
): Promise<void> {
  const startedAt = performance.now();
  const one = async (index: number) => {
    await work(index);
    onTime(performance.now() - startedAt);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
}
