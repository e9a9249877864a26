import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Bench, toRow } from './bench.ts';
import { atMost } from './goals.ts';
import { summarize } from './statistics.ts';
import { makeScratch } from './trees.ts';

const croftProgram = join(import.meta.dirname, '../packages/croft/bin/croft');
const rounds = 15;
/** Ticks per second on Linux, on every machine that Node supports. */
const ticksPerSecond = 100;

/** Time until a client that starts `croft mcp` has the handshake, and then the tools. */
export const start: Bench = {
  name: 'start',
  async run(say) {
    using scratch = makeScratch();
    const times: Times[] = [];
    // The first makes the cache of what Node compiles.
    for (let round = 0; round <= rounds; round++) {
      say(`round ${round} of ${rounds}`);
      const measured = await startOnce(scratch.path);
      if (round > 0) times.push(measured);
    }
    const row = (what: string, of: keyof Times) => ({ what, ours: summarize(times.map((time) => time[of])) });
    return {
      rows: [
        toRow({ ...row('start: croft mcp until initialize is answered', 'handshake'), goal: atMost(300, 'ms') }),
        toRow(row('start: the same, until tools/list is answered', 'tools')),
        toRow(row('start: CPU time until tools/list is answered', 'cpu')),
      ],
    };
  },
};

interface Times {
  readonly handshake: number;
  readonly tools: number;
  readonly cpu: number;
}

async function startOnce(directory: string): Promise<Times> {
  const startedAt = performance.now();
  const child = spawn(croftProgram, ['mcp', '--workspace', directory], { stdio: ['pipe', 'pipe', 'ignore'] });
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
  await once(child, 'exit');
  return { handshake, tools, cpu };
}

/** User and system, in milliseconds. */
function cpuOf({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerSecond;
}
