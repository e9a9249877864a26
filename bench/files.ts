import { join } from 'node:path';
import { type Bench, isWanted, type Row, type Say, type Selection, toRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { type FileServer, startCroft, startPeer } from './file-servers.ts';
import { atMostTimes, type Goal, timesFaster } from './goals.ts';
import { installPeers, versionOf } from './install-peers.ts';
import { measureSearches } from './measure-searches.ts';
import { fileSystemOf, makeScratch, makeTree, revisionLine, type Tree, toSource } from './scratch-trees.ts';
import { startSdkClient } from './sdk-client.ts';
import { startLeanClient } from './stdio-client.ts';

const peer = '@modelcontextprotocol/server-filesystem';
const useSdk = process.env.BENCH_CLIENT === 'sdk';
const startClient = useSdk ? startSdkClient : startLeanClient;

const treeFiles = 400;
/** A tree in which a cost for each file would show. */
const crowdedFiles = 10_000;
const burstReads = 2000;

/** The file tools over MCP stdio, and the searches. */
export const files: Bench = {
  name: 'files',
  async run(say, only) {
    await installPeers(say);
    using scratch = makeScratch();
    using memory = makeScratch('/dev/shm');
    const rows = [
      ...(await measureFiles(scratch.path, memory.path, { say, only })),
      ...(only.rows ? [] : await measureSearches({ directory: join(scratch.path, 'large'), startClient, say })),
    ];
    const about = {
      peer: `${peer} ${versionOf(peer)}`,
      client: useSdk ? 'official SDK' : 'lean',
      fileSystem: `${fileSystemOf(scratch.path)}, in ${scratch.path}; memory: ${fileSystemOf(memory.path)}`,
    };
    return { rows, about };
  },
};

interface MeasuredServer {
  readonly server: FileServer;
  readonly tree: Tree;
}

/** Two that make the same promise, or not. */
interface Pair {
  readonly name: string;
  readonly ours: MeasuredServer;
  readonly theirs: MeasuredServer;
  readonly against: string;
  readonly goal?: Goal;
}

interface Run {
  readonly say: Say;
  readonly only: Selection;
}

async function measureFiles(disk: string, memory: string, run: Run): Promise<Row[]> {
  await using servers = new AsyncDisposableStack();
  const measured: MeasuredServer[] = [];
  const open = async (
    directory: string,
    start: (directory: string) => Promise<FileServer>,
    files = treeFiles,
  ): Promise<MeasuredServer> => {
    const tree = makeTree(directory, files);
    const root = { server: servers.use(await start(tree.directory)), tree };
    await checkReading(root);
    measured.push(root);
    return root;
  };
  const croft = (directory: string) => startCroft(directory, startClient);
  const other = (directory: string) => startPeer(directory, startClient);
  const ours = await open(join(disk, 'ours'), croft);
  const theirs = await open(join(disk, 'theirs'), other);
  const inMemory = { ours: await open(join(memory, 'ours'), croft), theirs: await open(join(memory, 'theirs'), other) };
  const crowded = {
    ours: await open(join(memory, 'crowded-ours'), croft, crowdedFiles),
    theirs: await open(join(memory, 'crowded-theirs'), other, crowdedFiles),
  };
  const relaxed = await open(join(disk, 'relaxed'), (path) => startCroft(path, startClient, { durability: 'relaxed' }));
  const durable = await open(join(disk, 'durable'), (path) => startPeer(path, startClient, { isDurable: true }));

  const goal = atMostTimes(0.7);
  const rows = [
    ...(await measure('read 2 kB', reading, { ours, theirs, against: peer, goal, rounds: 2000 }, run)),
    ...(await measureWrites({ name: 'in memory', ...inMemory, against: peer, goal }, run)),
    ...(await measureWrites({ name: 'in memory among 10,000 files', ...crowded, against: peer, goal }, run)),
    // Much of the time is the disk. These rows compare a server that waits for the disk with a peer that does, and with
    // one that does not.
    ...(await measureWrites({ name: 'relaxed', ours: relaxed, theirs, against: peer }, run)),
    ...(await measureWrites({ name: 'durable', ours, theirs: durable, against: `${peer}, made durable` }, run)),
    ...(await measureWrites({ name: 'durable, theirs not', ours, theirs, against: peer }, run)),
  ];
  for (const { tree } of measured) tree.check();
  return [...rows, ...(await measureBurst(ours, theirs, run))];
}

async function measureWrites({ name, ...pair }: Pair, run: Run): Promise<Row[]> {
  const rounds = 1000;
  return [
    ...(await measure(`write 2 kB, replacing, ${name}`, replacing, { ...pair, rounds }, run)),
    ...(await measure(`write 2 kB, a new file, ${name}`, creating(name), { ...pair, rounds }, run)),
    ...(await measure(`edit 2 kB, ${name}`, editing, { ...pair, rounds }, run)),
  ];
}

async function measure(
  what: string,
  toSide: (root: MeasuredServer) => Side,
  { ours, theirs, rounds, ...others }: Omit<Pair, 'name'> & { readonly rounds: number },
  { say, only }: Run,
): Promise<Row[]> {
  if (!isWanted(what, only)) return [];
  say(what);
  const times = await compare({ ours: toSide(ours), theirs: toSide(theirs), rounds, warmUp: 300 });
  return [toRow({ what, ...others, ...times })];
}

async function measureBurst(ours: MeasuredServer, theirs: MeasuredServer, { say, only }: Run): Promise<Row[]> {
  const what = '2,000 reads at once';
  if (!isWanted(what, only)) return [];
  say(what);
  const burst = await compare({ ours: readingAtOnce(ours), theirs: readingAtOnce(theirs), rounds: 15, warmUp: 3 });
  const note = `${toRate(burst.ours.p50)}/s, theirs ${toRate(burst.theirs.p50)}/s`;
  return [toRow({ what, against: peer, goal: timesFaster(2), note, ...burst })];
}

/** That a read answers with the file. It is also the read that ours wants before a change. */
async function checkReading({ server, tree }: MeasuredServer): Promise<void> {
  await server.callAll(tree.paths.map(server.calls.read));
  const text = await server.ask(server.calls.read(at(tree, 0)));
  if (!text.includes(revisionLine(0))) throw new Error(`a read did not answer with the file: ${text.slice(0, 200)}`);
}

function reading({ server, tree }: MeasuredServer): Side {
  return { run: (round) => server.call(server.calls.read(at(tree, round))) };
}

function replacing({ server, tree }: MeasuredServer): Side {
  return {
    run(round) {
      const path = at(tree, round);
      return server.call(server.calls.write(path, toSource(tree.next(path))));
    },
  };
}

function creating(ending: string): (root: MeasuredServer) => Side {
  return ({ server, tree }) => ({
    run: (round) => server.call(server.calls.write(`${at(tree, round)}.${round}.${ending}`, toSource(round))),
  });
}

function editing({ server, tree }: MeasuredServer): Side {
  return {
    run(round) {
      const path = at(tree, round);
      const before = revisionLine(tree.revisionOf(path));
      return server.call(server.calls.edit(path, before, revisionLine(tree.next(path))));
    },
  };
}

function readingAtOnce({ server, tree }: MeasuredServer): Side {
  const calls = Array.from({ length: burstReads }, (_, index) => server.calls.read(at(tree, index)));
  return { run: () => server.callAll(calls) };
}

function at(tree: Tree, round: number): string {
  return tree.paths[round % tree.paths.length] ?? '';
}

function toRate(burstMs: number): number {
  return Math.round((burstReads * 1000) / burstMs);
}
