import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { createBubblewrap } from '../packages/croft/src/providers/index.ts';
import { type Bench, type Row, toRow } from './bench.ts';
import { compare } from './compare.ts';
import { startCroft } from './file-servers.ts';
import { atMostTimes } from './goals.ts';
import { startLeanClient } from './stdio-client.ts';
import { makeScratch } from './trees.ts';

const limits = {
  memoryBytes: 1024 ** 3,
  processes: 256,
  cpus: 2,
  fileBytes: 1024 ** 3,
  openFiles: 1024,
  diskBytes: 1024 ** 3,
};
const command = ['bash', '-c', 'true'] as const;

/** `bash -c true` behind the whole fence, against one that Node starts with none. */
export const exec: Bench = {
  name: 'exec',
  async run(say) {
    using scratch = makeScratch();
    return {
      rows: [await atThePort(scratch.path, say), await throughMcp(scratch.path, say), await created(scratch.path, say)],
    };
  },
};

/** One for the program, as in the program. */
const provider = createBubblewrap({ path: process.env.PATH ?? '', home: homedir() });

function openSandbox(directory: number, workspacePath: string) {
  return provider.open({ directory, workspacePath, limits, network: { mode: 'deny-all' }, readable: [] });
}

async function atThePort(path: string, say: (progress: string) => void): Promise<Row> {
  say('a warm sandbox, at the port');
  const handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const sandbox = await openSandbox(handle, path);
  const { signal } = new AbortController();
  const run = async () => {
    const running = sandbox.start({ argv: command, signal });
    running.stdout.resume();
    running.stderr.resume();
    const { code } = await running.exit;
    if (code !== 0) throw new Error(`exit ${code}`);
  };
  const times = await compare({ ours: { run }, theirs: { run: bareSpawn }, rounds: 400, warmUp: 50 });
  await sandbox.close();
  closeSync(handle);
  return toRow({ what: 'exec bash -c true, at the port', against: 'bare spawn', goal: atMostTimes(0.8), ...times });
}

async function throughMcp(path: string, say: (progress: string) => void): Promise<Row> {
  say('a warm sandbox, through MCP');
  await using croft = await startCroft(path, startLeanClient);
  const run = () => croft.call({ tool: 'bash', args: { command: 'true' } });
  const times = await compare({ ours: { run }, theirs: { run: bareSpawn }, rounds: 400, warmUp: 50 });
  return toRow({ what: 'exec bash -c true, through MCP', against: 'bare spawn', goal: atMostTimes(1.2), ...times });
}

async function created(path: string, say: (progress: string) => void): Promise<Row> {
  say('a new sandbox for every command');
  const handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const { signal } = new AbortController();
  const ours = async () => {
    const sandbox = await openSandbox(handle, path);
    const running = sandbox.start({ argv: command, signal });
    running.stdout.resume();
    running.stderr.resume();
    await running.exit;
    void sandbox.close();
  };
  const times = await compare({ ours: { run: ours }, theirs: { run: () => bareSandbox(path) }, rounds: 60, warmUp: 5 });
  closeSync(handle);
  return toRow({ what: 'create → first command', against: 'bwrap per command', goal: atMostTimes(2), ...times });
}

function bareSpawn(): Promise<void> {
  return toEnd(command);
}

function bareSandbox(path: string): Promise<void> {
  const links = [
    ...['--symlink', 'usr/bin', '/bin'],
    ...['--symlink', 'usr/lib', '/lib'],
    ...['--symlink', 'usr/lib64', '/lib64'],
  ];
  const fence = [
    '--unshare-all',
    '--ro-bind',
    '/usr',
    '/usr',
    ...links,
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    '--tmpfs',
    '/tmp',
  ];
  return toEnd(['bwrap', ...fence, '--bind', path, '/workspace', '--', ...command]);
}

function toEnd([program, ...args]: readonly [string, ...string[]]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`exit ${code}`))));
  });
}
