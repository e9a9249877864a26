import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { croft, makeDirectory } from '../packages/croft/test/support/harness.ts';
import type { Seen } from './drivers/cases.ts';

/** Loopback and nothing else, where this machine can make such a place for us. */
const offline = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh'];
export const canGoOffline = spawnSync(offline[0] ?? '', [...offline.slice(1), 'true']).status === 0;

/** Less than the test waits, and more than an agent gets. */
const deadlineMs = 280_000;

/** What a client makes of each case, by the name of the case. `driver` is a path in this folder. */
export async function runDriver(driver: string, workspace: string): Promise<Map<string, Seen>> {
  using home = makeDirectory();
  const program = join(import.meta.dirname, driver);
  const argv = [...(canGoOffline ? offline : []), process.execPath, program, croft, 'mcp', '--workspace', workspace];
  const [command = '', ...args] = argv;
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: `${join(process.execPath, '..')}:${process.env.PATH}`,
      HOME: home.path,
      DO_NOT_TRACK: '1',
      MASTRA_TELEMETRY_DISABLED: '1',
      OPENAI_AGENTS_DISABLE_TRACING: '1',
    },
  });
  const deadline = setTimeout(() => child.kill(), deadlineMs);
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
  });
  await once(child, 'close').finally(() => clearTimeout(deadline));
  const all = JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '') as Seen[];
  return new Map(all.map((one) => [one.name, one]));
}
