import { closeSync, constants, openSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { RunningProgram, Sandbox, SandboxLimits } from '../../../src/core/commands/sandbox.ts';
import { createFilesystemSpaceReader } from '../../../src/host/growth/disk-amount.ts';
import { createMeasuringThread, type MeasuringThread } from '../../../src/host/growth/measuring-thread.ts';
import { createWatchdogs } from '../../../src/host/limits/watchdog.ts';
import { findInit } from '../../../src/init/find-init.ts';
import { findGroups } from '../../../src/lib/cgroup/find-groups.ts';
import { toBwrapArguments } from '../../../src/providers/bubblewrap/bwrap-arguments.ts';
import { createBubblewrap } from '../../../src/providers/bubblewrap/provider.ts';
import { startIn } from '../../contracts/sandbox.ts';
import { makeDirectory } from '../harness.ts';

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
const parts = { findInit, toArguments: toBwrapArguments };
const paths = { path: process.env.PATH ?? '', home: homedir() };
const groups = { found: findGroups(), missing: { reason: 'taken away' } };

/** Shared by all tests, as in a server. Counts the measurements. */
export const counted = countAnswers(createMeasuringThread());
const watchdogs = createWatchdogs({ thread: counted.thread, finder: createFilesystemSpaceReader() });

function countAnswers(thread: MeasuringThread) {
  const answers = { growth: 0, usage: 0, processor: 0 };
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

/** Opens a sandbox that is closed when its test ends. */
export async function open({ hasGroup = true, tree = {}, from = watchdogs, ...changed }: OpenOptions = {}) {
  const fixture = makeDirectory(tree);
  await untilOld(fixture.path);
  const directory = openSync(fixture.path, constants.O_RDONLY | constants.O_DIRECTORY);
  const group = hasGroup ? groups.found : groups.missing;
  const sandbox = await createBubblewrap(paths, { ...parts, groups: group, watchdogs: from }).open({
    directoryFd: directory,
    workspacePath: '/workspace',
    limits: { ...limits, ...changed },
    network: { mode: 'deny-all' },
    readable: [],
  });
  onTestFinished(async () => {
    await sandbox.close();
    closeSync(directory);
    fixture[Symbol.dispose]();
  });
  return { ...sandbox, directory: fixture.path };
}

/** Waits a moment: files created at the moment in which a sandbox opens may be counted as its own. */
async function untilOld(path: string): Promise<void> {
  const newest = Math.max(...readdirSync(path).map((name) => statSync(join(path, name)).ctimeMs), 0);
  await vi.waitUntil(() => Date.now() - newest > 50, waiting);
}

export function startShell(sandbox: Sandbox, script: string): RunningProgram {
  const running = startIn(sandbox, ['/bin/sh', '-c', script]);
  running.stdout.resume();
  running.stderr.resume();
  return running;
}

export const ended = { code: null, signal: 'SIGKILL' };
