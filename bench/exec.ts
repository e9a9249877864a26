import { bareSpawn } from './bare-processes.ts';
import { type Bench, type Row, type Say, toRow, toUnmeasuredRow } from './bench.ts';
import { compare } from './compare.ts';
import { startCroft } from './file-servers.ts';
import { atMostTimes, timesFaster } from './goals.ts';
import { versionOf } from './install-peers.ts';
import { openPort } from './open-provider-port.ts';
import { peer, startSandboxRuntime } from './sandbox-runtime-peer.ts';
import { makeScratch } from './scratch-trees.ts';
import { startLeanClient } from './stdio-client.ts';

/** `bash -c true` in a warm sandbox behind the whole fence, against one that Node starts with none and against a peer. */
export const exec: Bench = {
  name: 'exec',
  async run(say) {
    using scratch = makeScratch();
    const rows = [
      await atThePort(scratch.path, say),
      await throughMcp(scratch.path, say),
      await againstPeer(scratch.path, say),
    ];
    return { rows, about: { peer: `${peer} ${versionOf(peer)}` } };
  },
};

const what = { port: 'exec bash -c true, at the port', mcp: 'exec bash -c true, through MCP' };

async function atThePort(path: string, say: Say): Promise<Row> {
  say('a warm sandbox, at the port');
  using port = openPort(path);
  const { run, close } = await port.open();
  const times = await compare({ ours: { run }, theirs: { run: bareSpawn }, rounds: 400, warmUp: 50 });
  await close();
  return toRow({ what: what.port, against: 'bare spawn', goal: atMostTimes(0.8), ...times });
}

async function throughMcp(path: string, say: Say): Promise<Row> {
  say('a warm sandbox, through MCP');
  await using croft = await startCroft(path, startLeanClient);
  const run = () => croft.call({ tool: 'bash', args: { command: 'true' } });
  const times = await compare({ ours: { run }, theirs: { run: bareSpawn }, rounds: 400, warmUp: 50 });
  return toRow({ what: what.mcp, against: 'bare spawn', goal: atMostTimes(1.2), ...times });
}

/** Library against library. */
async function againstPeer(path: string, say: Say): Promise<Row> {
  say(`a warm sandbox, against ${peer}`);
  const line = { what: what.port, against: peer, goal: timesFaster(10) };
  const theirs = await startSandboxRuntime(path, say);
  if (typeof theirs === 'string') {
    say(theirs);
    return toUnmeasuredRow(line, theirs);
  }
  await using runtime = theirs;
  using port = openPort(path);
  const { run, close } = await port.open();
  const times = await compare({ ours: { run }, theirs: runtime.side, rounds: 100, warmUp: 10 });
  await close();
  return toRow({ ...line, ...times });
}
