import { execFileSync } from 'node:child_process';
import type { Reporter, TestModule } from 'vitest/node';

/** The longest test file takes three minutes on two cores. */
const patienceMs = 12 * 60_000;
const graceMs = 60_000;
const lookMs = 5_000;

interface Process {
  readonly pid: number;
  readonly parent: number;
  /** As `ps` shows it: numbers, state, what it waits for in the kernel, and its arguments. */
  readonly line: string;
}

interface Running {
  readonly since: number;
  warnedAt?: number;
}

/**
 * Vitest has no time limit for a test file: one whose worker waits for a program that never ends would hold up the run
 * for ever, and nothing would say which. This reporter shows the processes of such a file and kills what the worker
 * waits for, so that its test fails and says where. If that does not help, it kills the worker too.
 */
export default function createStuckFiles(): Reporter {
  const running = new Map<string, Running>();
  let timer: NodeJS.Timeout | undefined;
  return {
    onTestRunStart() {
      timer = setInterval(() => running.forEach(look), lookMs).unref();
    },
    onTestModuleQueued({ moduleId }: TestModule) {
      running.set(moduleId, { since: Date.now() });
    },
    onTestModuleEnd({ moduleId }: TestModule) {
      running.delete(moduleId);
    },
    onTestRunEnd() {
      clearInterval(timer);
    },
  };
}

function look(file: Running, moduleId: string): void {
  if (Date.now() < (file.warnedAt === undefined ? file.since + patienceMs : file.warnedAt + graceMs)) return;
  const all = listProcesses();
  const worker = all.find(({ line }) => line.endsWith(`vitest ${moduleId}`));
  if (!worker) return;
  const below = descendants(worker.pid, all);
  console.error(`STUCK: ${moduleId} has taken ${Math.round((Date.now() - file.since) / 1000)} s. Its processes:`);
  for (const { line } of [worker, ...below]) console.error(`  ${line}`);
  for (const { pid } of file.warnedAt === undefined ? below : [worker]) kill(pid);
  file.warnedAt = Date.now();
}

function listProcesses(): Process[] {
  const text = execFileSync('ps', ['-eo', 'pid,ppid,etimes,stat,wchan:20,args', '-ww'], { encoding: 'utf8' });
  return text.split('\n').flatMap((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return pid && parent !== undefined ? [{ pid, parent, line: line.trimEnd() }] : [];
  });
}

function descendants(pid: number, all: readonly Process[]): Process[] {
  const children = all.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child, ...descendants(child.pid, all)]);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended since it was listed.
  }
}
