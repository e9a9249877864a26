import { join } from 'node:path';
import { type Bench, type Row, toRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { type FileServer, startCroft, startPeer } from './file-servers.ts';
import { atMostTimes, timesFaster } from './goals.ts';
import { installPeers, versionOf } from './peers.ts';
import { startSdkClient } from './sdk-client.ts';
import { measureSearches } from './searches.ts';
import { startLeanClient } from './stdio-client.ts';
import { fileSystemOf, makeScratch, makeTree, revisionLine, type Tree, toSource } from './trees.ts';

const peer = '@modelcontextprotocol/server-filesystem';
const useSdk = process.env.BENCH_CLIENT === 'sdk';
const startClient = useSdk ? startSdkClient : startLeanClient;

const treeFiles = 400;
const burstReads = 2000;

/** The file tools over MCP stdio, and the searches. */
export const files: Bench = {
  name: 'files',
  async run(say) {
    await installPeers(say);
    using scratch = makeScratch();
    const rows = [
      ...(await measureFiles(scratch.path, say)),
      ...(await measureSearches({ directory: join(scratch.path, 'large'), startClient, say })),
    ];
    const about = {
      peer: `${peer} ${versionOf(peer)}`,
      client: useSdk ? 'official SDK' : 'lean',
      fileSystem: `${fileSystemOf(scratch.path)}, in ${scratch.path}`,
    };
    return { rows, about };
  },
};

interface Place {
  readonly server: FileServer;
  readonly tree: Tree;
}

async function measureFiles(scratch: string, say: (progress: string) => void): Promise<Row[]> {
  const trees = {
    ours: makeTree(join(scratch, 'ours'), treeFiles),
    theirs: makeTree(join(scratch, 'theirs'), treeFiles),
    durable: makeTree(join(scratch, 'durable'), treeFiles),
  };
  await using croft = await startCroft(trees.ours.directory, startClient);
  await using other = await startPeer(trees.theirs.directory, startClient);
  await using synced = await startPeer(trees.durable.directory, startClient, { isDurable: true });
  const ours = { server: croft, tree: trees.ours };
  const theirs = { server: other, tree: trees.theirs };
  const durable = { server: synced, tree: trees.durable };
  for (const place of [ours, theirs, durable]) await checkReading(place);

  const goal = atMostTimes(0.7);
  const measure = async (what: string, toSide: (place: Place) => Side, rounds: number, against = theirs) => {
    say(what);
    const times = await compare({ ours: toSide(ours), theirs: toSide(against), rounds, warmUp: 300 });
    return toRow({ what, against: against === durable ? `${peer}, made durable` : peer, goal, ...times });
  };
  const rows = [
    await measure('read 2 kB', reading, 2000),
    await measure('write 2 kB, replacing', replacing, 1000),
    await measure('write 2 kB, a new file', creating, 1000),
    await measure('edit 2 kB', editing, 1000),
    // The peer answers before anything is on the disk. These compare what keeps the same promise.
    await measure('durable write 2 kB, replacing', replacing, 1000, durable),
    await measure('durable write 2 kB, a new file', creatingDurably, 1000, durable),
    await measure('durable edit 2 kB', editing, 1000, durable),
  ];
  for (const { tree } of [ours, theirs, durable]) tree.check();

  const what = '2,000 reads at once';
  say(what);
  const burst = await compare({ ours: readingAtOnce(ours), theirs: readingAtOnce(theirs), rounds: 15, warmUp: 3 });
  const note = `${toRate(burst.ours.p50)}/s, theirs ${toRate(burst.theirs.p50)}/s`;
  return [...rows, toRow({ what, against: peer, goal: timesFaster(2), note, ...burst })];
}

/** That a read answers with the file. It is also the read that ours wants before a change. */
async function checkReading({ server, tree }: Place): Promise<void> {
  await server.callAll(tree.paths.map(server.calls.read));
  const text = await server.ask(server.calls.read(at(tree, 0)));
  if (!text.includes(revisionLine(0))) throw new Error(`a read did not answer with the file: ${text.slice(0, 200)}`);
}

function reading({ server, tree }: Place): Side {
  return { run: (round) => server.call(server.calls.read(at(tree, round))) };
}

function replacing({ server, tree }: Place): Side {
  return {
    run(round) {
      const path = at(tree, round);
      return server.call(server.calls.write(path, toSource(tree.next(path))));
    },
  };
}

const creating = creatingWith('new');
const creatingDurably = creatingWith('durable');

function creatingWith(ending: string): (place: Place) => Side {
  return ({ server, tree }) => ({
    run: (round) => server.call(server.calls.write(`${at(tree, round)}.${round}.${ending}`, toSource(round))),
  });
}

function editing({ server, tree }: Place): Side {
  return {
    run(round) {
      const path = at(tree, round);
      const before = revisionLine(tree.revisionOf(path));
      return server.call(server.calls.edit(path, before, revisionLine(tree.next(path))));
    },
  };
}

function readingAtOnce({ server, tree }: Place): Side {
  const calls = Array.from({ length: burstReads }, (_, index) => server.calls.read(at(tree, index)));
  return { run: () => server.callAll(calls) };
}

function at(tree: Tree, round: number): string {
  return tree.paths[round % tree.paths.length] ?? '';
}

function toRate(burstMs: number): number {
  return Math.round((burstReads * 1000) / burstMs);
}
