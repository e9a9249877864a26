import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, isWanted, type Row, type Say, toRow, toUnmeasuredRow } from './bench.ts';
import { compare, type Side } from './compare.ts';
import { type FileServer, startCroft } from './file-servers.ts';
import { copying, makeRepository } from './git-peer.ts';
import { atMostTimes } from './goals.ts';
import { run } from './run-program.ts';
import { fileSystemOf, makeScratch, makeTree, type Tree, toSource } from './scratch-trees.ts';
import { startLeanClient } from './stdio-client.ts';

const changed = 10;
const faster = { text: 'faster', isMet: atMostTimes(1).isMet };

/** Snapshots, restores and forks over MCP stdio, with ten files changed each time. */
export const snapshot: Bench = {
  name: 'snapshot',
  async run(say, only) {
    using scratch = makeScratch();
    await using opened = new AsyncDisposableStack();
    const open = async (name: string, count: number) => {
      const workspace = await openMeasured(scratch.path, name, count, say);
      opened.use(workspace.server);
      return workspace;
    };
    const rows: Row[] = [];
    const wants = (what: string, size: number) => isWanted(what, only) && (only.sizes?.includes(size) ?? true);
    const wantsGrowth = wants('snapshot, 100,000 files', 100_000);
    const small = wantsGrowth || !only.sizes || only.sizes.includes(10_000) ? await open('small', 10_000) : undefined;
    if (small && wants('snapshot, 10', 10_000)) rows.push(...(await measureSnapshots(small, scratch.path, say)));
    if (small && wants('restore', 10_000)) rows.push(await measureRestore(small, say));
    if (small && wants('fork', 10_000)) rows.push(await measureFork(small, scratch.path, 'fork, 10,000 files', say));
    const large = wantsGrowth || wants('fork', 100_000) ? await open('large', 100_000) : undefined;
    if (small && large && wantsGrowth) rows.push(await measureGrowth(large, small, say));
    if (large && wants('fork', 100_000)) rows.push(await measureFork(large, scratch.path, 'fork, 100,000 files', say));
    return { rows, about: { fileSystem: `${fileSystemOf(scratch.path)}, in ${scratch.path}` } };
  },
};

async function measureGrowth(large: OpenedWorkspace, small: OpenedWorkspace, say: Say): Promise<Row> {
  say('snapshot, 100,000 files');
  const times = await compare({ ours: taking(large), theirs: taking(small), rounds: 30, warmUp: 3 });
  return toRow({ what: 'snapshot, 100,000 files', against: 'itself, 10,000', goal: atMostTimes(2), ...times });
}

interface OpenedWorkspace {
  readonly server: FileServer;
  readonly tree: Tree;
}

async function openMeasured(scratch: string, name: string, count: number, say: Say): Promise<OpenedWorkspace> {
  say(`a tree of ${count} files`);
  const tree = makeTree(join(scratch, name), count);
  const server = await startCroft(tree.directory, startLeanClient, { data: join(scratch, `${name}-data`) });
  const startedAt = performance.now();
  await server.call({ tool: 'snapshot_create', args: { name: 'first' } });
  say(`the first snapshot took ${Math.round(performance.now() - startedAt)} ms`);
  return { server, tree };
}

/** Ten files that are far from each other. */
function change(tree: Tree, round: number): void {
  for (let index = 0; index < changed; index++) {
    const path = tree.paths[(round * changed + index * 911) % tree.paths.length] ?? '';
    writeFileSync(path, toSource(tree.next(path)));
  }
}

function taking({ server, tree }: OpenedWorkspace): Side {
  return {
    prepare: async (round) => change(tree, round),
    run: (round) => server.call({ tool: 'snapshot_create', args: { name: `round-${round % 20}` } }),
  };
}

async function measureSnapshots(ours: OpenedWorkspace, scratch: string, say: Say): Promise<Row[]> {
  const tree = makeTree(join(scratch, 'theirs'), 10_000);
  const repository = makeRepository(tree);
  const peers: Readonly<Record<string, Side>> = {
    'git, a kept side index': { run: repository.sideSnapshot },
    'git stash create': { run: repository.stash },
    'cp -a': copying(tree, join(scratch, 'copy')),
  };
  const rows: Row[] = [];
  for (const [against, peer] of Object.entries(peers)) {
    say(`snapshot against ${against}`);
    const theirs: Side = {
      async prepare(round) {
        change(tree, round);
        await peer.prepare?.(round);
      },
      run: peer.run,
    };
    const times = await compare({ ours: taking(ours), theirs, rounds: against === 'cp -a' ? 10 : 40, warmUp: 3 });
    rows.push(toRow({ what: 'snapshot, 10 of 10,000 files changed', against, goal: faster, ...times }));
  }
  return rows;
}

async function measureRestore({ server, tree }: OpenedWorkspace, say: Say): Promise<Row> {
  say('restore');
  const peer = makeTree(`${tree.directory}-restored`, 10_000);
  const repository = makeRepository(peer);
  change(peer, 0);
  repository.git('commit', '-q', '-a', '-m', 'ten');
  await server.call({ tool: 'snapshot_create', args: { name: 'point' } });
  const probe = tree.paths[0] ?? '';
  const kept = readFileSync(probe, 'utf8');
  const ours: Side = {
    prepare: async (round) => change(tree, round),
    run: () => server.call({ tool: 'snapshot_restore', args: { name: 'point' } }),
  };
  const theirs: Side = {
    run: (round) => (round % 2 === 0 ? repository.readTree('main', 'main~1') : repository.readTree('main~1', 'main')),
  };
  const times = await compare({ ours, theirs, rounds: 40, warmUp: 4 });
  if (readFileSync(probe, 'utf8') !== kept) throw new Error('a restore did not bring a file back');
  return toRow({ what: 'restore, 10 files back', against: 'git read-tree -m -u', goal: atMostTimes(0.5), ...times });
}

/** A fork can be worked in when it is answered: a file of it is read within the time. */
async function measureFork({ server, tree }: OpenedWorkspace, scratch: string, what: string, say: Say): Promise<Row> {
  say(what);
  const line = { what, against: 'a bare overlay mount', goal: atMostTimes(1.5) };
  const layers = toLayers(scratch, tree.directory);
  try {
    await layers.mount(0);
    await layers.unmount(0);
  } catch {
    return toUnmeasuredRow(line, 'this user cannot mount');
  }
  await server.call({ tool: 'workspace_fork', args: { name: 'warm' } });
  const ours: Side = {
    prepare: async (round) => change(tree, round),
    run: (round) => server.call({ tool: 'workspace_fork', args: { name: `fork-${round}` } }),
  };
  const theirs: Side = { run: layers.mount };
  const times = await compare({ ours, theirs, rounds: 20, warmUp: 2 });
  for (let round = 0; round < 22; round++) await layers.unmount(round);
  return toRow({ ...line, ...times });
}

function toLayers(scratch: string, lower: string) {
  const env = { PATH: process.env.PATH ?? '' };
  const at = (round: number, part: string) => join(scratch, `layer-${round}`, part);
  return {
    async mount(round: number): Promise<void> {
      for (const part of ['upper', 'work', 'merged']) mkdirSync(at(round, part), { recursive: true });
      const options = `lowerdir=${lower},upperdir=${at(round, 'upper')},workdir=${at(round, 'work')}`;
      await run('mount', ['-t', 'overlay', 'overlay', '-o', options, at(round, 'merged')], env);
    },
    unmount: (round: number) => run('umount', [at(round, 'merged')], env),
  };
}
