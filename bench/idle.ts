import { availableParallelism } from 'node:os';
import { type Bench, type Row, type Say, toRow } from './bench.ts';
import { allOf, atMost } from './goals.ts';
import { type HttpServer, type HttpSession, startHttpCroft } from './http-server.ts';
import { chargedTo, familiesOf, handlesOf, residentOf } from './read-processes.ts';
import { makeScratch } from './scratch-trees.ts';
import { summarize } from './statistics.ts';

const count = 500;
const openers = 8;

/** Cost of open, idle sandboxes, and whether so many can be open. */
export const idle: Bench = {
  name: 'idle',
  async run(say) {
    using scratch = makeScratch();
    await using server = await startHttpCroft(scratch.path);
    // The first sandboxes are not counted, because the server makes what all sandboxes share with them.
    const first = await server.openSession();
    await first.bash('true');
    await first.end();
    const before = measureServer(server);
    const { sessions, row: opening } = await openAll(server, say);
    const after = measureServer(server);
    const memory = measureMemory(server, say);
    const answering = await askAll(sessions, say);
    const handles = ((after.handles - before.handles) / count).toFixed(1);
    const growth = single('idle: growth of the server for each', (after.megabytes - before.megabytes) / count, 'MB');
    return {
      rows: [...memory, ...answering, opening, growth],
      about: { sandboxes: `${count}, opened ${openers} at a time`, handles: `${handles} in the server for each` },
    };
  },
};

function measureServer({ pid }: HttpServer) {
  return { megabytes: residentOf([pid]).rss, handles: handlesOf(pid) };
}

async function openAll(server: HttpServer, say: Say): Promise<{ sessions: HttpSession[]; row: Row }> {
  say(`opening ${count} sandboxes`);
  const sessions: HttpSession[] = [];
  const startedAt = performance.now();
  await repeat(count, openers, async (index) => {
    const session = await server.openSession();
    await session.bash(`echo sandbox-${index} > /tmp/mine`);
    sessions[index] = session;
  });
  const seconds = (performance.now() - startedAt) / 1000;
  return { sessions, row: single(`idle: until ${count} are open`, seconds, 's') };
}

/** Measures the memory of the processes of idle sandboxes outside the server: bubblewrap and the init. */
function measureMemory({ pid }: HttpServer, say: Say): Row[] {
  say('their memory');
  const families = familiesOf(pid);
  const resident = families.map(residentOf);
  const charged = families.flatMap((family) => chargedTo(family.at(-1) ?? 0) ?? []);
  const goal = atMost(3, 'MB');
  const what = 'idle: memory of one sandbox outside the server';
  const rows = [
    toRow({ what: `${what}, RSS`, unit: 'MB', goal, ours: summarize(resident.map(({ rss }) => rss)) }),
    toRow({ what: `${what}, PSS`, unit: 'MB', ours: summarize(resident.map(({ pss }) => pss)) }),
  ];
  if (charged.length < families.length) return rows;
  return [...rows, toRow({ what: `${what}, charged to its group`, unit: 'MB', goal, ours: summarize(charged) })];
}

/** Runs one command per core at a time, so that the time is that of a command and not of a queue. */
async function askAll(sessions: readonly HttpSession[], say: Say): Promise<Row[]> {
  say('a command in each');
  const times: number[] = [];
  await repeat(sessions.length, availableParallelism(), async (index) => {
    const startedAt = performance.now();
    const answer = await sessions[index]?.bash('cat /tmp/mine').catch(() => '');
    if (answer?.includes(`"sandbox-${index}\\n"`)) times.push(performance.now() - startedAt);
  });
  return [
    toRow({ ...single(`idle: of ${count} open, answered with what is its own`, times.length, ''), goal: allOf(count) }),
    toRow({ what: `idle: a command while ${count} are open, over HTTP MCP`, ours: summarize(times) }),
  ];
}

function single(what: string, figure: number, unit: string) {
  return { what, unit, ours: summarize([figure]) };
}

/** Runs `work` this many times, at most `workers` at once. */
async function repeat(times: number, workers: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < times) await work(next++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}
