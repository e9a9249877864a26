import { appendFileSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Row, toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { compare } from '../compare.ts';
import { startCroft } from '../file-servers.ts';
import { atLeast, atMost, atMostTimes } from '../goals.ts';
import { familiesOf, processorSecondsOf, residentOf } from '../read-processes.ts';
import { runRipgrep } from '../run-ripgrep.ts';
import { summarize } from '../statistics.ts';
import { startLeanClient, type ToolClient } from '../stdio-client.ts';
import { type LargeTree, makeLargeTree } from './large-tree.ts';

const what = 'code: search_code';
const defaultSizes = [10_000];
const goals: Readonly<Record<number, { cold: number; index: number; warm: number }>> = {
  10000: { cold: 1000, index: 15, warm: 15 },
  100000: { cold: 3000, index: 150, warm: 40 },
};
const edits = 20;
const rounds = 100;
const buildMs = 600_000;
/** Threads of the index end after 30 seconds at most. */
const idleMs = 40_000;
const queries =
  'parse config|http server|read file|open workspace|quota guard|sandbox limits|find candidate files|token bucket|approval';

/** A search that has no index yet, building the index, and searches with it, in trees of 10,000 files and more. */
export const search: CodeFigures = {
  what,
  async measure({ sources, scratch, only, say }) {
    const rows: Row[] = [];
    for (const size of only.sizes ?? defaultSizes) {
      say(`a tree of ${size} files`);
      const tree = makeLargeTree(sources, join(scratch, `tree-${size}`), size);
      rows.push(...(await measureTree(tree, join(scratch, `data-${size}`), say)));
    }
    return rows;
  },
};

async function measureTree(tree: LargeTree, data: string, say: (progress: string) => void): Promise<Row[]> {
  const size = tree.paths.length;
  const goal = goals[size] ?? { cold: 3000, index: (size * 15) / 10_000, warm: 40 };
  const name = `${what}, ${size.toLocaleString('en')} files`;
  await using ours = await startCroft(tree.directory, startLeanClient, { data });
  await ours.call({ tool: 'glob', args: { pattern: '*.none' } });
  const [startedWith, processorBefore] = [usedMemory(), processorSeconds()];
  const startedAt = performance.now();
  await ours.call(toSearch('parse config'));
  const cold = performance.now() - startedAt;
  say('building the index');
  const { seconds, peak } = await untilBuilt(ours, data, startedAt);
  const perCore = tree.bytes / 1e6 / (processorSeconds() - processorBefore);
  say('searching with the index');
  const words = queries.split('|');
  const ask = (round: number) => ours.call(toSearch(words[round % words.length] ?? ''));
  const text = words[0]?.split(' ')[0] ?? '';
  const theirs = { run: () => runRipgrep(tree.directory, ['--count', '-i', text, './']) };
  const warm = await compare({ ours: { run: ask }, theirs, rounds, warmUp: words.length });
  const seen = await measureEdits(ours, tree);
  say('waiting until idle threads have ended');
  await wait(idleMs);
  const memory = { startedWith, peak, after: usedMemory() };
  const ratio = sizeOf(data) / tree.bytes;
  return [
    toRow({ what: `${name}: without an index`, ours: summarize([cold]), goal: atMost(goal.cold, 'ms') }),
    toRow({
      what: `${name}: the index is built`,
      unit: 's',
      ours: summarize([seconds]),
      goal: atMost(goal.index, 's'),
    }),
    toRow({
      ...{ what: `${name}: text read for the index, a core`, unit: 'MB/s', ours: summarize([perCore]) },
      goal: atLeast(2.7, 'MB/s'),
    }),
    ...toMemoryRows(name, memory),
    toRow({ what: `${name}: with the index`, ours: warm.ours, goal: atMost(goal.warm, 'ms') }),
    toRow({ what: `${name}: with the index`, against: 'rg --count', goal: atMostTimes(0.3), ...warm }),
    toRow({ what: `${name}: after an edit`, ours: seen, goal: atMost(goal.warm + 30, 'ms') }),
    toRow({ what: `${name}: index by text`, unit: '×', ours: summarize([ratio]), goal: atMost(0.5, '×') }),
  ];
}

/** Of everything that runs: the first figure is before any question about code. */
function toMemoryRows(name: string, { startedWith, peak, after }: Readonly<Record<string, number>>): Row[] {
  const row = (when: string, megabytes: number | undefined): Row =>
    toRow({ what: `${name}: memory ${when}`, unit: 'MB', ours: summarize([megabytes ?? Number.NaN]) });
  const goal = { goal: atMost(150, 'MB') };
  const rest = toRow({ what: `${name}: memory, idle again`, unit: 'MB', ours: summarize([after ?? 0]), ...goal });
  return [row('before', startedWith), row('at most', peak), rest];
}

function usedMemory(): number {
  return residentOf(familiesOf(process.pid).flat()).rss;
}

/** Of all programs that this one has started and that still run. */
function processorSeconds(): number {
  return familiesOf(process.pid)
    .flat()
    .reduce((sum, pid) => sum + processorSecondsOf(pid), 0);
}

function toSearch(query: string) {
  return { tool: 'search_code', args: { query, limit: 10 } };
}

/** The index is built when a map says that every file is in it. */
async function untilBuilt(ours: ToolClient, data: string, startedAt: number) {
  let peak = 0;
  while (performance.now() - startedAt < buildMs) {
    const before = sizeOf(data);
    await wait(1000);
    peak = Math.max(peak, usedMemory());
    const answer = before === sizeOf(data) ? await ours.ask({ tool: 'repo_map', args: { tokens: 100 } }) : 'built';
    if (!answer.includes('built')) return { seconds: (performance.now() - startedAt) / 1000, peak };
  }
  throw new Error(`the index was not built in ${buildMs / 1000} s`);
}

async function measureEdits(ours: ToolClient, { directory, paths }: LargeTree) {
  const times: number[] = [];
  for (let edit = 0; edit < edits; edit++) {
    const name = `zebraOfEdit${edit}Number`;
    appendFileSync(join(directory, paths[edit * 37] ?? ''), `\nexport function ${name}() {}\n`);
    const startedAt = performance.now();
    const answer = await ours.ask(toSearch(name));
    times.push(performance.now() - startedAt);
    if (!answer.includes(`function ${name}`)) throw new Error(`${name} was not found after its edit`);
  }
  return summarize(times);
}

function sizeOf(data: string): number {
  const base = join(data, 'code');
  const files = existsSync(base) ? readdirSync(base, { recursive: true, encoding: 'utf8' }) : [];
  return files.reduce((sum, file) => sum + (statSync(join(base, file), { throwIfNoEntry: false })?.size ?? 0), 0);
}
