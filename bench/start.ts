import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { packAll } from '../scripts/pack.ts';
import { type Bench, toRow } from './bench.ts';
import { atMost, atMostTimes } from './goals.ts';
import { installPeers, programOf, versionOf } from './install-peers.ts';
import { makeScratch } from './scratch-trees.ts';
import { summarize } from './statistics.ts';

const peer = '@modelcontextprotocol/server-filesystem';
const rounds = 15;
/** Ticks per second on Linux, on every machine that Node supports. */
const ticksPerSecond = 100;

/**
 * Time until a client that starts `croft mcp` has the handshake, and then the tools; and until short commands end. Measured
 * is what people install: the npm packages, made of this clone.
 */
export const start: Bench = {
  name: 'start',
  async run(say) {
    await installPeers(say);
    using scratch = makeScratch();
    // Another installation may be measured instead: to have it before a machine is quiet, or to compare.
    const croftProgram = process.env.CROFT_BENCH_PROGRAM ?? (await installCroft(join(scratch.path, 'installed'), say));
    const workspace = join(scratch.path, 'workspace');
    mkdirSync(workspace);
    const peerArgv = [process.execPath, programOf(peer, 'dist/index.js'), workspace];
    const [ours, theirs]: [Times[], Times[]] = [[], []];
    const short = { version: [] as number[], help: [] as number[], node: [] as number[] };
    // The first makes the cache of what Node compiles. Both take turns, so that both meet the same machine.
    for (let round = 0; round <= rounds; round++) {
      say(`round ${round} of ${rounds}`);
      const [mine, other] = [
        await startOnce([croftProgram, 'mcp', '--workspace', workspace]),
        await startOnce(peerArgv),
      ];
      const version = await runOnce(croftProgram, '--version');
      const help = await runOnce(croftProgram, 'help');
      const node = await runOnce(process.execPath, '-e', '0');
      if (round === 0) continue;
      ours.push(mine);
      theirs.push(other);
      short.version.push(version);
      short.help.push(help);
      short.node.push(node);
    }
    const row = (what: string, of: keyof Times) => ({
      ...{ what, against: peer },
      ours: summarize(ours.map((time) => time[of])),
      theirs: summarize(theirs.map((time) => time[of])),
    });
    const bare = { against: 'node -e 0', theirs: summarize(short.node), goal: atMost(120, 'ms') };
    return {
      about: { program: 'the npm packages', [peer]: versionOf(peer) },
      rows: [
        toRow({ ...row('start: croft mcp until initialize is answered', 'handshake'), goal: atMostTimes(1) }),
        toRow({ what: 'start: the same, in time', ours: row('', 'handshake').ours, goal: atMost(250, 'ms') }),
        toRow(row('start: the same, until tools/list is answered', 'tools')),
        toRow(row('start: CPU time until tools/list is answered', 'cpu')),
        toRow({ what: 'start: croft --version', ours: summarize(short.version), ...bare }),
        toRow({ what: 'start: croft help', ours: summarize(short.help), ...bare }),
      ],
    };
  },
};

interface Times {
  readonly handshake: number;
  readonly tools: number;
  readonly cpu: number;
}

async function startOnce([program = '', ...args]: readonly string[]): Promise<Times> {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: child.stdout });
  const ask = async (message: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    await once(lines, 'line');
    return performance.now() - startedAt;
  };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const handshake = await ask({ id: 1, method: 'initialize', params });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const tools = await ask({ id: 2, method: 'tools/list', params: {} });
  const cpu = cpuOf(child);
  child.stdin.end();
  // The peer does not end when its input ends.
  const stop = setTimeout(() => child.kill(), 1000);
  await once(child, 'exit').finally(() => clearTimeout(stop));
  return { handshake, tools, cpu };
}

/** Packs and installs as `npm install` of somebody does. Returns the program. */
async function installCroft(directory: string, say: (progress: string) => void): Promise<string> {
  say('making and installing the packages');
  mkdirSync(directory);
  const { tarballs } = await packAll(join(directory, 'tarballs'));
  writeFileSync(join(directory, 'package.json'), '{ "private": true }');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'];
  const { status, stderr } = spawnSync('npm', ['install', ...flags, ...tarballs], { cwd: directory, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm could not install the packages: ${stderr}`);
  return join(directory, 'node_modules/.bin/croft');
}

async function runOnce(program: string, ...args: readonly string[]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - startedAt;
}

/** User and system, in milliseconds. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}
