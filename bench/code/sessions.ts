import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Row, toRow } from '../bench.ts';
import type { CodeFigures } from '../code.ts';
import { startCroft } from '../file-servers.ts';
import { atMostTimes, none } from '../goals.ts';
import { startHttpCroft } from '../http-server.ts';
import { familiesOf, residentOf } from '../read-processes.ts';
import { summarize } from '../statistics.ts';
import { startLeanClient, type ToolClient } from '../stdio-client.ts';
import { startCclsp } from './peers/cclsp.ts';
import { installCodePeers } from './peers/code-peers.ts';

const what = 'code: sessions';
const count = 10;
const file = 'core/calls/toolbox.ts';
const ask = { tool: 'find_definition', args: { file_path: file, symbol: 'createToolbox' } };

/** Ten agents on one workspace: the memory of everything that they start, and what a kill leaves behind. */
export const sessions: CodeFigures = {
  what,
  async measure({ sources, scratch, say }) {
    await installCodePeers(say);
    const toTheirs = {
      tool: 'find_definition',
      args: { file_path: join(sources, file), symbol_name: 'createToolbox' },
    };
    const memory = {
      ours: await measureOurs(sources),
      theirs: await measureTheirs(() => startCclsp(sources, scratch), toTheirs),
    };
    const left = {
      ours: await countLeft(() => startCroft(sources, startLeanClient, { data: join(scratch, 'data') }), ask),
      theirs: await countLeft(() => startCclsp(sources, scratch), toTheirs),
    };
    const toSides = ({ ours, theirs }: { ours: number; theirs: number }) => ({
      ours: summarize([ours]),
      theirs: summarize([theirs]),
    });
    const rows: Row[] = [
      toRow({
        what: `${what}: memory of ${count}`,
        against: 'cclsp',
        unit: 'MB',
        goal: atMostTimes(0.15),
        ...toSides(memory),
      }),
      toRow({
        what: `${what}: processes left 1 s after kill -9`,
        against: 'cclsp',
        unit: '',
        goal: none,
        ...toSides(left),
      }),
    ];
    return rows;
  },
};

/** The processes that this one has started, and all below them. */
const started = () => familiesOf(process.pid).flat();

async function measureOurs(directory: string): Promise<number> {
  await using croft = await startHttpCroft(directory);
  const agents = await Promise.all(Array.from({ length: count }, () => croft.openSession()));
  for (const agent of agents) await agent.call(ask);
  return residentOf(started()).rss;
}

async function measureTheirs(start: () => Promise<ToolClient>, call: typeof ask | object): Promise<number> {
  await using clients = new AsyncDisposableStack();
  for (let agent = 0; agent < count; agent++) await clients.use(await start()).ask(call as typeof ask);
  return residentOf(started()).rss;
}

async function countLeft(start: () => Promise<ToolClient>, call: typeof ask | object): Promise<number> {
  await using client = await start();
  await client.ask(call as typeof ask);
  const [family = []] = familiesOf(process.pid);
  const [top = 0, ...below] = family;
  process.kill(top, 'SIGKILL');
  await wait(1000);
  const left = below.filter((pid) => existsSync(`/proc/${pid}/exe`));
  for (const pid of left) process.kill(pid, 'SIGKILL');
  return left.length;
}
