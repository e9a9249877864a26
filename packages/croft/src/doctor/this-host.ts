import { accessSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { createInitFinder } from '../init/binary.ts';
import { findGroups } from '../lib/cgroup/cgroup.ts';
import { findProgram } from '../lib/find-program.ts';
import { killGroup, spawnProgram } from '../lib/spawn.ts';
import type { Host, Ran } from './host.ts';

const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
const answersWithinMs = 10_000;

/** The machine this runs on. */
export function createThisHost({ runInside, dockerSocket }: Pick<Host, 'runInside' | 'dockerSocket'>): Host {
  return {
    read: (path) => attempt(() => readText(path)),
    exists: (path) => attempt(() => accessSync(path) ?? true) ?? false,
    findProgram,
    run,
    user: { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
    tryGroups,
    findInitProblem,
    runInside,
    dockerSocket,
  };
}

const run: Host['run'] = async (argv, as) => {
  const child = spawnProgram(argv, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], owner: as });
  const timer = setTimeout(() => killGroup(child), answersWithinMs);
  const ended = new Promise<Ran['code']>((resolve, reject) => child.once('error', reject).once('close', resolve));
  try {
    const [code, stdout, stderr] = await Promise.all([ended, read(child.stdout), read(child.stderr)]);
    return { code, stdout, stderr };
  } catch (thrown) {
    return { code: null, stdout: '', stderr: toMessage(thrown) };
  } finally {
    clearTimeout(timer);
  }
};

function readText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}

async function read(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream ? text(stream as AsyncIterable<Buffer>) : '';
}

const tryGroups: Host['tryGroups'] = async () => {
  const groups = findGroups();
  if ('reason' in groups) return groups;
  try {
    await groups.create('doctor', { memoryBytes: 2 ** 26, processes: 16, cpus: 1 }).remove();
    return { version: groups.version };
  } catch (thrown) {
    return { reason: toMessage(thrown) };
  }
};

function findInitProblem(): string | undefined {
  try {
    createInitFinder()();
    return undefined;
  } catch (thrown) {
    return toMessage(thrown).split('; run:')[0];
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

function toMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
