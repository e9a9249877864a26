import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Bench, type Row, toRow } from './bench.ts';
import { atMost, atMostTimesMedian, none } from './goals.ts';
import { type HttpServer, type McpSession, startHttpCroft } from './http-server.ts';
import { residentOf } from './read-processes.ts';
import { makeScratch, makeTree, toName } from './scratch-trees.ts';
import { summarize } from './statistics.ts';
import type { ToolCall } from './stdio-client.ts';

const sessionCount = 200;
const workspaceCount = 20;
/** `CROFT_BENCH_SERVER_SECONDS=600` is the ten minutes of the goal. */
const seconds = Number(process.env.CROFT_BENCH_SERVER_SECONDS ?? 60);
const treeFiles = 400;
/** Calls of the first seconds are not counted: the server opens its sandboxes meanwhile. */
const warmUpSeconds = 20;
/** A model takes longer than that for its next call. */
const maxThinkingMs = 2000;
/** Agents begin one after the other, so that their calls mix from the start. */
const startsWithinMs = 10_000;
/** Allowed growth of memory from then on: three samples differ by as much without a leak. */
const maxGrowth = 5;

interface Tally {
  /** In milliseconds, by tool. */
  readonly times: Map<string, number[]>;
  readonly failures: string[];
}

/** Many agents at once, each of which thinks a little between two calls. */
export const server: Bench = {
  name: 'server',
  async run(say) {
    using scratch = makeScratch();
    const trees = Array.from({ length: workspaceCount }, (_, index) => makeTree(`${scratch.path}/${index}`, treeFiles));
    const names = trees.map(({ directory }, index) => [`team-${index}`, directory]);
    const events = `${scratch.path}/events`;
    await using croft = await startHttpCroft(Object.fromEntries(names), ['--events', events]);
    say(`opening ${sessionCount} sessions in ${workspaceCount} workspaces`);
    const agents = await Promise.all(Array.from({ length: sessionCount }, () => croft.openSession()));
    const working = work(agents);
    say(`${agents.length} agents warm up for ${warmUpSeconds} s`);
    await setTimeout(warmUpSeconds * 1000);
    working.forget();
    say(`and work for ${seconds} s`);
    const [watching, since] = [watchMemory(croft), new Date().toISOString()];
    await setTimeout(seconds * 1000);
    const tally = await working.end();
    const about = { workspaces: `${workspaceCount}, of ${treeFiles} files each` };
    return { rows: toRows(tally, await watching.end(), longestWork(events, since)), about };
  },
};

/** The calls of an agent in one turn. */
type Make = (own: string, turn: number) => ToolCall;

/** Roughly the mix of real agents: four of ten calls are reads. */
const mix: readonly Make[] = [
  (own, turn) => ({ tool: 'write', args: { file_path: own, content: `turn ${turn}\n` } }),
  (_, turn) => ({ tool: 'read', args: { file_path: fileOf(turn) } }),
  (own, turn) => ({ tool: 'edit', args: { file_path: own, old_string: `turn ${turn - 2}`, new_string: 'turn' } }),
  (_, turn) => ({ tool: 'grep', args: { pattern: `value${1 + (turn % 20)} = compute`, head_limit: 20 } }),
  (_, turn) => ({ tool: 'read', args: { file_path: fileOf(turn * 7) } }),
  (own) => ({ tool: 'bash', args: { command: `cat ${own} && ls src | wc -l` } }),
  () => ({ tool: 'list', args: { path: 'src/area-0' } }),
  (own) => ({ tool: 'read', args: { file_path: own } }),
  () => ({ tool: 'glob', args: { pattern: '**/*.ts', limit: 50 } }),
  (_, turn) => ({ tool: 'read', args: { file_path: fileOf(turn * 13) } }),
];

function fileOf(number: number): string {
  return toName(number % treeFiles);
}

/** Sets all agents to work. `forget` drops what was counted so far, `end` resolves when their last calls are answered. */
function work(agents: readonly McpSession[]) {
  let tally: Tally = { times: new Map(), failures: [] };
  let isOver = false;
  const working = agents.map(async (agent, index) => {
    const random = createRandom(index);
    await setTimeout((index / agents.length) * startsWithinMs);
    for (let turn = 0; !isOver; turn++) {
      await setTimeout(random() * maxThinkingMs);
      const call = mix[turn % mix.length]?.(`own-${index}.txt`, turn);
      if (call && !isOver) await time(agent, inWorkspace(call, index), tally);
    }
  });
  return {
    forget(): void {
      tally = { times: new Map(), failures: [] };
    },
    async end(): Promise<Tally> {
      isOver = true;
      await Promise.all(working);
      return tally;
    },
  };
}

function inWorkspace({ tool, args }: ToolCall, agent: number): ToolCall {
  return { tool, args: { ...args, workspace: `team-${agent % workspaceCount}` } };
}

/** Numbers from 0 to 1 that are the same in every run, and that depend on nothing that other agents get. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function time(agent: McpSession, call: ToolCall, { times, failures }: Tally): Promise<void> {
  const startedAt = performance.now();
  try {
    await agent.call(call);
    const took = times.get(call.tool) ?? [];
    times.set(call.tool, took);
    took.push(performance.now() - startedAt);
  } catch (thrown) {
    failures.push(String(thrown));
  }
}

/** Once a second, until it is ended. */
function watchMemory({ pid }: HttpServer) {
  const ended = new AbortController();
  const watching = (async () => {
    const samples: number[] = [];
    while (!ended.signal.aborted) {
      samples.push(residentOf([pid]).rss);
      await setTimeout(1000, undefined, { signal: ended.signal }).catch(() => {});
    }
    return samples;
  })();
  return {
    end(): Promise<number[]> {
      ended.abort();
      return watching;
    },
  };
}

/**
 * How long the main thread of the server worked at most without a pause, in processor time. The server reports 50 ms
 * and more; below that, nobody waits for it.
 */
function longestWork(eventsFile: string, since: string): number {
  const events = readFileSync(eventsFile, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const stalls = events.filter(({ event, ts }) => event === 'lifecycle.server.stall' && ts >= since);
  return Math.max(0, ...stalls.map(({ fields }) => Number(fields.processor_ms)));
}

function toRows({ times, failures }: Tally, memory: readonly number[], longestMs: number): Row[] {
  const what = `server: ${sessionCount} sessions, mixed calls for ${seconds} s`;
  const third = Math.floor(memory.length / 3);
  const growth = (median(memory.slice(-third)) / median(memory.slice(0, third)) - 1) * 100;
  const [first] = failures;
  const all = [...times.values()].flat();
  return [
    toRow({
      what: `${what} (${Math.round(all.length / seconds)}/s)`,
      ours: summarize(all),
      goal: atMostTimesMedian(5),
    }),
    // The median of all is a read or a write, and the slowest hundredth are programs: see both apart.
    ...Array.from(times, ([tool, took]) => toRow({ what: `${what}: ${tool}`, ours: summarize(took) })),
    toRow({
      ...{ what: `${what}, errors`, unit: '', ours: summarize([failures.length]), goal: none },
      ...(first !== undefined && { note: first.slice(0, 300) }),
    }),
    toRow({ what: `${what}, longest work of its main thread`, ours: summarize([longestMs]), goal: atMost(50, 'ms') }),
    toRow({ what: `${what}, growth of memory`, unit: '%', ours: summarize([growth]), goal: atMost(maxGrowth, '%') }),
    toRow({ what: `${what}, memory of the server`, unit: 'MB', ours: summarize(memory) }),
  ];
}

function median(figures: readonly number[]): number {
  return summarize(figures).p50;
}
