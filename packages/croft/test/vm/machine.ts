import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const here = import.meta.dirname;
const repository = join(here, '../../../..');
export const kernel = '/usr/bin/linux.uml';

/** How much control a job has over control groups. `enter.sh` describes each way. */
export const ways = ['root', 'delegated', 'beside', 'crowded', 'contained', 'plain'] as const;
export type As = (typeof ways)[number];

export interface Job {
  readonly as: As;
  readonly argv: readonly string[];
}

export interface BootOptions {
  readonly jobs: readonly Job[];
  readonly withinMs: number;
  onOutput(text: string): void;
}

export interface Ended {
  /** Whether the machine got as far as the first job. */
  readonly isUp: boolean;
  /** Exit code of the last job that failed, or 0. Absent if the machine did not finish. */
  readonly code: number | undefined;
}

/**
 * Boots another Linux, a user-mode kernel with control groups version 2 only. It sees the files of this machine; its
 * writes are discarded.
 */
export async function boot({ jobs, withinMs, onOutput }: BootOptions): Promise<Ended> {
  const given = mkdtempSync(join(tmpdir(), 'croft-vm-'));
  try {
    writeFileSync(join(given, 'job'), toScript(jobs));
    // A kernel that is asked to end takes all its processes along; a killed one does not.
    const child = spawn('setpriv', ['--pdeathsig', 'TERM', kernel, ...toArguments(given)], {
      env: { LD_PRELOAD: compileXstate(given), HOME: given, PATH: '/usr/bin:/bin' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: withinMs,
    });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => onOutput(String(bytes)));
    await once(child, 'close');
    const code = join(given, 'code');
    return {
      isUp: existsSync(join(given, 'up')),
      code: existsSync(code) ? Number(readFileSync(code, 'utf8')) : undefined,
    };
  } finally {
    rmSync(given, { recursive: true, force: true });
  }
}

function toArguments(given: string): string[] {
  const [overlay = ''] = globSync('/usr/lib/uml/modules/*/kernel/fs/overlayfs/overlay.ko*');
  return [
    ...['mem=2G', 'rootfstype=hostfs', 'rootflags=/', 'ro', `init=${join(here, 'init.sh')}`],
    ...['con=null', 'con0=null,fd:1', 'quiet', 'loglevel=3', 'panic=-1'],
    ...[`croft.repository=${repository}`, `croft.given=${given}`, `croft.overlay=${overlay}`],
  ];
}

function toScript(jobs: readonly Job[]): string {
  const quote = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  const lines = jobs.map(({ as, argv }) => ['sh', join(here, 'enter.sh'), as, ...argv].map(quote).join(' '));
  const variables = `export CI=1 NO_COLOR=1 HOME=/root PATH=${join(repository, 'node_modules/.bin')}:$PATH`;
  return [variables, 'code=0', ...lines.map((line) => `${line} || code=$?`), 'exit $code', ''].join('\n');
}

export function compileXstate(directory: string): string {
  const library = join(directory, 'xstate.so');
  execFileSync('cc', ['-O1', '-shared', '-fPIC', '-o', library, join(here, 'xstate.c'), '-ldl']);
  return library;
}
