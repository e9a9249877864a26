import { setTimeout } from 'node:timers/promises';
import { type Bench, type Row, type Say, toRow } from './bench.ts';
import { atMost, atMostTimesMedian, none } from './goals.ts';
import { type HttpServer, type McpSession, startHttpCroft } from './http-server.ts';
import { residentOf } from './processes.ts';
import { summarize } from './statistics.ts';
import type { ToolCall } from './stdio-client.ts';
import { makeScratch, makeTree, toName } from './trees.ts';

const sessionCount = 200;
const workspaceCount = 20;
/** `CROFT_BENCH_SERVER_SECONDS=600` is the ten minutes of the goal. */
const seconds = Number(process.env.CROFT_BENCH_SERVER_SECONDS ?? 60);
const treeFiles = 400;
/** Of the first part nothing is counted: sandboxes are opened in it, and what is kept for all of them is made. */
const warmUpSeconds = 20;
/** A model takes longer than that for its next call. */
const maxThinkingMs = 2000;
/** Allowed growth of memory from then on: three samples differ by as much without a leak. */
const maxGrowth = 5;

interface Tally {
  readonly times: number[];
  readonly failures: string[];
}

/** Many agents at once, each of which thinks a little between two calls. */
export const server: Bench = {
  name: 'server',
  async run(say) {
    using scratch = makeScratch();
    const trees = Array.from({ length: workspaceCount }, (_, index) => makeTree(`${scratch.path}/${index}`, treeFiles));
    const names = trees.map(({ directory }, index) => [`team-${index}`, directory]);
    await using croft = await startHttpCroft(Object.fromEntries(names));
    say(`opening ${sessionCount} sessions in ${workspaceCount} workspaces`);
    const agents = await Promise.all(Array.from({ length: sessionCount }, () => croft.openSession()));
    await work(agents, warmUpSeconds, say);
    const watching = watchMemory(croft);
    const tally = await work(agents, seconds, say);
    const about = { workspaces: `${workspaceCount}, of ${treeFiles} files each` };
    return { rows: toRows(tally, await watching.end()), about };
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

async function work(agents: readonly McpSession[], forSeconds: number, say: Say): Promise<Tally> {
  say(`${agents.length} agents at work for ${forSeconds} s`);
  const tally: Tally = { times: [], failures: [] };
  const endAt = performance.now() + forSeconds * 1000;
  await Promise.all(
    agents.map(async (agent, index) => {
      for (let turn = 0; performance.now() < endAt; turn++) {
        await setTimeout(thinkingMs(index, turn));
        const call = mix[turn % mix.length]?.(`own-${index}.txt`, turn);
        if (call) await time(agent, inWorkspace(call, index), tally);
      }
    }),
  );
  return tally;
}

function inWorkspace({ tool, args }: ToolCall, agent: number): ToolCall {
  return { tool, args: { ...args, workspace: `team-${agent % workspaceCount}` } };
}

/** The same in every run. */
function thinkingMs(agent: number, turn: number): number {
  return ((agent * 7919 + turn * 104_729) % 1000) * (maxThinkingMs / 1000);
}

async function time(agent: McpSession, call: ToolCall, { times, failures }: Tally): Promise<void> {
  const startedAt = performance.now();
  try {
    await agent.call(call);
    times.push(performance.now() - startedAt);
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

function toRows({ times, failures }: Tally, memory: readonly number[]): Row[] {
  const what = `server: ${sessionCount} sessions, mixed calls for ${seconds} s`;
  const third = Math.floor(memory.length / 3);
  const growth = (median(memory.slice(-third)) / median(memory.slice(0, third)) - 1) * 100;
  const [first] = failures;
  return [
    toRow({
      what: `${what} (${Math.round(times.length / seconds)}/s)`,
      ours: summarize(times),
      goal: atMostTimesMedian(5),
    }),
    toRow({
      ...{ what: `${what}, errors`, unit: '', ours: summarize([failures.length]), goal: none },
      ...(first !== undefined && { note: first.slice(0, 300) }),
    }),
    toRow({ what: `${what}, growth of memory`, unit: '%', ours: summarize([growth]), goal: atMost(maxGrowth, '%') }),
    toRow({ what: `${what}, memory of the server`, unit: 'MB', ours: summarize(memory) }),
  ];
}

function median(figures: readonly number[]): number {
  return summarize(figures).p50;
}
