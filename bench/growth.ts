import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, isWanted, type Row, type Say, type Selection, toRow, toUnmeasuredRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { type FileServer, startCroft } from './file-servers.ts';
import { atMost, atMostTimes, atMostTimesAlways } from './goals.ts';
import { fileSystemOf, makeScratch, makeTree, revisionLine, type Tree, toSource } from './scratch-trees.ts';
import { summarize } from './statistics.ts';
import { type StartClient, startLeanClient, type ToolCall } from './stdio-client.ts';

const smallSize = 100;
const largeSizes = [10_000, 100_000];
/** Files that calls touch, spread over the whole tree. */
const touchedFiles = 100;
const sessions = 3;

interface MeasuredServer {
  readonly server: FileServer;
  readonly tree: Tree;
  readonly touched: readonly string[];
}

interface Run {
  readonly scratch: string;
  readonly say: Say;
  readonly only: Selection;
}

interface Work {
  readonly name: string;
  readonly rounds: number;
  readonly warmUp: number;
  toSide(root: MeasuredServer): Side;
}

/**
 * The same calls in a small tree and in large ones, and the first call of a session. A call should cost only what it
 * touches.
 */
export const growth: Bench = {
  name: 'growth',
  async run(say, only) {
    using scratch = makeScratch(process.env.BENCH_GROWTH_IN ?? '/dev/shm');
    const run = { scratch: scratch.path, say, only };
    const sizes = only.sizes ?? [smallSize, ...largeSizes];
    const small = makeProject(join(scratch.path, String(smallSize)), smallSize);
    const rows: Row[] = sizes.includes(smallSize) ? await measureFirst(small, run) : [];
    for (const size of sizes.filter((size) => size !== smallSize)) {
      say(`making ${size} files`);
      const large = makeProject(join(scratch.path, String(size)), size);
      rows.push(
        ...(await measureFirst(large, run)),
        ...(await measureSize(large, small, run)),
        ...(await measureWithoutWatches(large, run)),
      );
    }
    return { rows, about: { fileSystem: `${fileSystemOf(scratch.path)}, in ${scratch.path}` } };
  },
};

/** Makes a tree that is a project, so that an edit looks for formatters and linters. */
function makeProject(directory: string, count: number): Tree {
  const tree = makeTree(directory, count);
  writeFileSync(join(directory, 'package.json'), '{ "name": "growth" }\n');
  return tree;
}

/**
 * Measures first calls, each in a new session: with an empty data directory, and with the data of the session before.
 */
async function measureFirst(tree: Tree, { scratch, say, only }: Run): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, toCall } of firstCalls) {
    const what = `first call of a session: ${name} in ${tree.paths.length} files`;
    if (!isWanted(what, only)) continue;
    say(what);
    const times: { fresh: number[]; next: number[] } = { fresh: [], next: [] };
    for (let session = 0; session < sessions; session++) {
      const data = join(scratch, `first-${name}-${tree.paths.length}-${session}`);
      times.fresh.push(await timeFirst(tree, data, toCall(tree, session * 2)));
      times.next.push(await timeFirst(tree, data, toCall(tree, session * 2 + 1)));
    }
    const goal = atMost(100, 'ms');
    rows.push(toRow({ what: `${what}, new data`, ours: summarize(times.fresh), goal }));
    rows.push(toRow({ what: `${what}, again`, ours: summarize(times.next), goal }));
  }
  return rows;
}

async function timeFirst(tree: Tree, data: string, call: ToolCall): Promise<number> {
  await using server = await startCroft(tree.directory, startLeanClient, { data });
  await server.listTools?.();
  const startedAt = performance.now();
  await server.call(call);
  return performance.now() - startedAt;
}

const firstCalls: readonly { name: string; toCall(tree: Tree, round: number): ToolCall }[] = [
  {
    name: 'write',
    toCall: (tree, round) => ({
      tool: 'write',
      args: {
        file_path: join(tree.directory, `src/area-0/part-0/first-${Date.now()}-${round}.txt`),
        content: 'first\n',
      },
    }),
  },
  { name: 'bash', toCall: (_, round) => ({ tool: 'bash', args: { command: `echo ${round} > src/area-0/first.txt` } }) },
  { name: 'glob', toCall: () => ({ tool: 'glob', args: { pattern: 'src/area-0/part-0/*.ts' } }) },
];

async function measureSize(large: Tree, small: Tree, { scratch, say, only }: Run): Promise<Row[]> {
  const wanted = works.filter(({ name }) => isWanted(`${name} in ${large.paths.length} files`, only));
  if (wanted.length === 0) return [];
  await using servers = new AsyncDisposableStack();
  const open = async (tree: Tree): Promise<MeasuredServer> => {
    const data = join(scratch, `data-${large.paths.length}-${tree.paths.length}`);
    const server = servers.use(await startCroft(tree.directory, startLeanClient, { data }));
    const step = tree.paths.length / touchedFiles;
    const touched = Array.from({ length: touchedFiles }, (_, index) => tree.paths[Math.floor(index * step)] ?? '');
    const root = { server, tree, touched };
    await prepare(root);
    return root;
  };
  const [ours, theirs] = [await open(large), await open(small)];
  const rows: Row[] = [];
  for (const { name, rounds, warmUp, toSide } of wanted) {
    const what = `${name} in ${large.paths.length} files`;
    say(what);
    const times = await compare({ ours: toSide(ours), theirs: toSide(theirs), rounds, warmUp });
    rows.push(toRow({ what, against: `in ${smallSize} files`, ...times, goal: atMostTimesAlways(1.3) }));
  }
  return rows;
}

/** Edits by a user who has no inotify watch left, against the same edits by one who has. */
async function measureWithoutWatches(tree: Tree, { scratch, say, only }: Run): Promise<Row[]> {
  const what = `edit 2 kB without inotify watches in ${tree.paths.length} files`;
  const line = { what, against: 'with watches', goal: atMostTimes(3) };
  if (!isWanted(what, only)) return [];
  if (spawnSync('unshare', toUser(noWatches, ['true'])).status !== 0)
    return [toUnmeasuredRow(line, 'this user cannot make a user namespace')];
  say(what);
  await using servers = new AsyncDisposableStack();
  const open = async (set: string, first: number): Promise<MeasuredServer> => {
    const start: StartClient = (argv) => startLeanClient(['unshare', ...toUser(set, argv)]);
    const data = join(scratch, `watches-${tree.paths.length}-${first}`);
    const server = servers.use(await startCroft(tree.directory, start, { data }));
    const root = { server, tree, touched: tree.paths.slice(first, first + touchedFiles) };
    await prepare(root);
    return root;
  };
  // Each edits files of its own: a change by the other would be stale.
  const [ours, theirs] = [await open(noWatches, 0), await open('true', touchedFiles)];
  const times = await compare({ ours: editing(ours), theirs: editing(theirs), rounds: 100, warmUp: 20 });
  return [toRow({ ...line, ...times })];
}

const noWatches = 'echo 0 > /proc/sys/user/max_inotify_instances';

/** The limit of watches is one of each user namespace. */
function toUser(set: string, argv: readonly string[]): string[] {
  return ['-Ur', 'sh', '-c', `${set} && exec "$0" "$@"`, ...argv];
}

/** Croft wants a read before a change; the last call waits for whatever Croft learns of the tree at first. */
async function prepare({ server, touched }: MeasuredServer): Promise<void> {
  await server.callAll(touched.map(server.calls.read));
  await server.call({ tool: 'snapshot_create', args: { name: 'before' } });
}

const works: readonly Work[] = [
  {
    ...{ name: 'read 2 kB', rounds: 500, warmUp: 100 },
    toSide: ({ server, touched }) => ({ run: (round) => server.call(server.calls.read(at(touched, round))) }),
  },
  { ...{ name: 'write 2 kB, replacing', rounds: 500, warmUp: 100 }, toSide: replacing },
  {
    ...{ name: 'write 2 kB, a new file', rounds: 400, warmUp: 100 },
    toSide: ({ server, touched }) => ({
      run: (round) =>
        server.call(server.calls.write(`${at(touched, round)}.${round}.${Date.now()}.new`, toSource(round))),
    }),
  },
  { ...{ name: 'edit 2 kB', rounds: 500, warmUp: 100 }, toSide: editing },
  {
    ...{ name: 'bash that changes one file', rounds: 100, warmUp: 20 },
    toSide: ({ server, touched }) => ({
      run: (round) => server.call({ tool: 'bash', args: { command: `echo ${round} > ${at(touched, round)}.sh.txt` } }),
    }),
  },
  {
    ...{ name: 'glob of one directory', rounds: 100, warmUp: 20 },
    toSide: ({ server }) => ({ run: () => server.call(server.calls.glob('src/area-0/part-0/*.ts')) }),
  },
];

function replacing({ server, tree, touched }: MeasuredServer): Side {
  return {
    run(round) {
      const path = at(touched, round);
      return server.call(server.calls.write(path, toSource(tree.next(path))));
    },
  };
}

function editing({ server, tree, touched }: MeasuredServer): Side {
  return {
    run(round) {
      const path = at(touched, round);
      const before = revisionLine(tree.revisionOf(path));
      return server.call(server.calls.edit(path, before, revisionLine(tree.next(path))));
    },
  };
}

function at(touched: readonly string[], round: number): string {
  return touched[round % touched.length] ?? '';
}
