import { accessSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { findInit } from '../init/find-init.ts';
import { findGroups } from '../lib/cgroup/find-groups.ts';
import { errorMessage } from '../lib/error-message.ts';
import { reportTemporaryBase } from '../lib/files/temporary-base.ts';
import { findProgram } from '../lib/processes/find-program.ts';
import { describeNativeFix } from '../lib/processes/native-files.ts';
import { killProcessGroup, spawnProgram } from '../lib/processes/spawn.ts';
import { tryOrUndefined } from '../lib/try-or-undefined.ts';
import type { Host, ProgramResult } from './host.ts';

const environment = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' };
const answersWithinMs = 10_000;

/** The host that this process runs on. */
export function createThisHost({ runInSandbox, dockerSocket }: Pick<Host, 'runInSandbox' | 'dockerSocket'>): Host {
  return {
    read: (path) => tryOrUndefined(() => readText(path)),
    exists: (path) => tryOrUndefined(() => accessSync(path) ?? true) ?? false,
    findProgram,
    run,
    user: { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1 },
    tryControlGroups,
    findInitProblem,
    nativeFix: describeNativeFix(),
    temporaryFiles: reportTemporaryBase(),
    runInSandbox,
    dockerSocket,
  };
}

const run: Host['run'] = async (argv, as) => {
  const child = spawnProgram(argv, { env: environment, stdio: ['ignore', 'pipe', 'pipe'], owner: as });
  const timer = setTimeout(() => killProcessGroup(child), answersWithinMs);
  const ended = new Promise<ProgramResult['code']>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  try {
    const [code, stdout, stderr] = await Promise.all([ended, read(child.stdout), read(child.stderr)]);
    return { code, stdout, stderr };
  } catch (thrown) {
    return { code: null, stdout: '', stderr: errorMessage(thrown) };
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

const tryControlGroups: Host['tryControlGroups'] = async () => {
  const groups = findGroups();
  if ('reason' in groups) return groups;
  try {
    await groups.create('doctor', { memoryBytes: 2 ** 26, processes: 16, cpus: 1 }).remove();
    return { version: groups.version };
  } catch (thrown) {
    return { reason: errorMessage(thrown) };
  }
};

function findInitProblem(): string | undefined {
  try {
    findInit();
    return undefined;
  } catch (thrown) {
    return errorMessage(thrown);
  }
}
