import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Bench, toRow } from './bench.ts';
import { atMost, atMostTimes } from './goals.ts';
import { installPeers, programOf, versionOf } from './install-peers.ts';
import { makeScratch } from './scratch-trees.ts';
import { summarize } from './statistics.ts';

/** Another installation, such as one of the packages, may be measured instead of this clone. */
const croftProgram = process.env.CROFT_BENCH_PROGRAM ?? join(import.meta.dirname, '../packages/croft/bin/croft');
const peer = '@modelcontextprotocol/server-filesystem';
const rounds = 15;
/** Ticks per second on Linux, on every machine that Node supports. */
const ticksPerSecond = 100;

/** Time until a client that starts `croft mcp` has the handshake, and then the tools; and until short commands end. */
export const start: Bench = {
  name: 'start',
  async run(say) {
    await installPeers(say);
    using scratch = makeScratch();
    const peerArgv = [process.execPath, programOf(peer, 'dist/index.js'), scratch.path];
    const [ours, theirs]: [Times[], Times[]] = [[], []];
    const short = { version: [] as number[], help: [] as number[] };
    // The first makes the cache of what Node compiles. Both take turns, so that both meet the same machine.
    for (let round = 0; round <= rounds; round++) {
      say(`round ${round} of ${rounds}`);
      const [mine, other] = [
        await startOnce([croftProgram, 'mcp', '--workspace', scratch.path]),
        await startOnce(peerArgv),
      ];
      const [version, help] = [await runOnce('--version'), await runOnce('help')];
      if (round === 0) continue;
      ours.push(mine);
      theirs.push(other);
      short.version.push(version);
      short.help.push(help);
    }
    const row = (what: string, of: keyof Times) => ({
      ...{ what, against: peer },
      ours: summarize(ours.map((time) => time[of])),
      theirs: summarize(theirs.map((time) => time[of])),
    });
    return {
      about: { program: croftProgram, [peer]: versionOf(peer) },
      rows: [
        toRow({ ...row('start: croft mcp until initialize is answered', 'handshake'), goal: atMostTimes(1) }),
        toRow({ what: 'start: the same, in time', ours: row('', 'handshake').ours, goal: atMost(250, 'ms') }),
        toRow(row('start: the same, until tools/list is answered', 'tools')),
        toRow(row('start: CPU time until tools/list is answered', 'cpu')),
        toRow({ what: 'start: croft --version', ours: summarize(short.version), goal: atMost(120, 'ms') }),
        toRow({ what: 'start: croft help', ours: summarize(short.help), goal: atMost(120, 'ms') }),
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
  // The peer goes on after the end of its input.
  const stop = setTimeout(() => child.kill(), 1000);
  await once(child, 'exit').finally(() => clearTimeout(stop));
  return { handshake, tools, cpu };
}

async function runOnce(argument: string): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(croftProgram, [argument], { stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - startedAt;
}

/** User and system, in milliseconds. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}
