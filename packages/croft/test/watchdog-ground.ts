import { closeSync, constants, openSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { Running, Sandbox, SandboxLimits } from '../src/core/commands/sandbox.ts';
import { createWatchdogs } from '../src/host/watchdog.ts';
import { createInitFinder } from '../src/init/binary.ts';
import { findGroups } from '../src/lib/cgroup/cgroup.ts';
import { createMeasuringThread, type MeasuringThread } from '../src/lib/growth/measuring-thread.ts';
import { createRoomFinder } from '../src/lib/growth/room.ts';
import { toFence } from '../src/providers/bubblewrap/fence.ts';
import { createBubblewrap } from '../src/providers/bubblewrap/provider.ts';
import { startIn } from './contracts/sandbox.ts';
import { makeDirectory } from './harness.ts';

export const megabyte = 1024 * 1024;
export const limits: SandboxLimits = {
  memoryBytes: 256 * megabyte,
  processes: 512,
  cpus: 2,
  fileBytes: 16 * megabyte,
  openFiles: 256,
  diskBytes: 32 * megabyte,
};
export const waiting = { interval: 20 };
const parts = { findInit: createInitFinder(), toFence };
const paths = { path: process.env.PATH ?? '', home: homedir() };
const groups = { found: findGroups(), missing: { reason: 'taken away' } };

/** One for all tests, as in a server. Counts how often something was measured. */
export const counted = countAnswers(createMeasuringThread());
const watchdogs = createWatchdogs({ thread: counted.thread, finder: createRoomFinder() });

function countAnswers(thread: MeasuringThread) {
  const answers = { growth: 0, usage: 0 };
  const counting: MeasuringThread = {
    async ask(kind, question) {
      const answer = await thread.ask(kind, question);
      answers[kind]++;
      return answer;
    },
  };
  return { answers, thread: counting };
}

interface OpenOptions extends Partial<SandboxLimits> {
  readonly hasGroup?: boolean;
  readonly tree?: Record<string, string | Buffer>;
  readonly from?: typeof watchdogs;
}

/** A sandbox that ends with its test. */
export async function open({ hasGroup = true, tree = {}, from = watchdogs, ...changed }: OpenOptions = {}) {
  const ground = makeDirectory(tree);
  await untilOld(ground.path);
  const directory = openSync(ground.path, constants.O_RDONLY | constants.O_DIRECTORY);
  const group = hasGroup ? groups.found : groups.missing;
  const sandbox = await createBubblewrap(paths, { ...parts, groups: group, watchdogs: from }).open({
    directory,
    workspacePath: '/workspace',
    limits: { ...limits, ...changed },
    network: { mode: 'deny-all' },
    readable: [],
  });
  onTestFinished(async () => {
    await sandbox.close();
    closeSync(directory);
    ground[Symbol.dispose]();
  });
  return { ...sandbox, directory: ground.path };
}

/** What was made in the very moment in which a sandbox opens may be anybody's: a little later it was there before. */
async function untilOld(path: string): Promise<void> {
  const newest = Math.max(...readdirSync(path).map((name) => statSync(join(path, name)).ctimeMs), 0);
  await vi.waitUntil(() => Date.now() - newest > 50, waiting);
}

export function startShell(sandbox: Sandbox, script: string): Running {
  const running = startIn(sandbox, ['/bin/sh', '-c', script]);
  running.stdout.resume();
  running.stderr.resume();
  return running;
}

export const ended = { code: null, signal: 'SIGKILL' };
