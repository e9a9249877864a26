import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mustBe, type Platform } from '../support/servers/platform.ts';

const program = join(import.meta.dirname, '../fixtures/ordinary-client.ts');
/**
 * The client gets a processor whenever it needs one, as on a machine of its own. Otherwise the time of a call would also
 * have what the client waits for a processor of the attacked machine. The kernel grants that to root alone.
 */
const isFirst = spawnSync('chrt', ['--rr', '1', 'true']).status === 0;
if (!isFirst) console.warn('chrt is not allowed: the times of calls have what their client waits for a processor');

export interface CallTimes {
  readonly calls: number;
  readonly p50: number;
  /** All but one of a hundred calls took at most this, and all but one of fewer calls. */
  readonly p99: number;
  readonly worst: number;
}

/** Opens an account that makes ordinary calls, from a process of its own. */
export async function openOrdinaryAccount(platform: Platform) {
  const account = await platform.newAccount('ann');
  const sandbox = await account.newSandbox({ permissionMode: 'bypass' });
  const workspaces = [{ name: 'w', workspaceId: await account.newWorkspace() }];
  const agentId = await account.newAgent({ sandbox, workspaces });
  mustBe(200, await account.call(agentId, 'write', { file_path: 'a.txt', content: 'a\n' }));
  return {
    /** Calls for this long, and returns how long the calls took. */
    async workFor(forMs: number): Promise<CallTimes> {
      const { url, secret } = account;
      const client = [process.execPath, program, JSON.stringify({ url, secret, agentId, forMs })];
      const [command = '', ...args] = isFirst ? ['chrt', '--rr', '1', ...client] : client;
      const { stdout } = await promisify(execFile)(command, args, { maxBuffer: 10_000_000 });
      const took: [string, number][] = JSON.parse(stdout);
      return toTimes(took.map(([, ms]) => ms).sort((one, other) => one - other));
    },
  };
}

function toTimes(sorted: readonly number[]): CallTimes {
  const slowest = (count: number) => Math.round(sorted[sorted.length - 1 - count] ?? 0);
  const calls = sorted.length;
  return { calls, p50: slowest(calls >> 1), p99: slowest(Math.max(1, Math.floor(calls / 100))), worst: slowest(0) };
}
