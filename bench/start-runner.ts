import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const croftProgram = join(import.meta.dirname, '../packages/croft/bin/croft');
const stopMs = 20_000;

export interface RunnerOptions {
  /** URL of the server. */
  readonly url: string;
  readonly token: string;
  /** Flags of its workspaces: `--workspaces name=dir`, or `--root dir`. */
  readonly offers: readonly [string, string];
  /** The data directory of the runner. */
  readonly data: string;
}

/** Starts a real `croft runner`, which connects to the server by itself. */
export function startRunner({ url, token, offers, data }: RunnerOptions): AsyncDisposable {
  mkdirSync(data);
  const tokenFile = join(data, 'token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const args = ['runner', '--server', url, '--token-file', tokenFile, '--data', data, ...offers];
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(croftProgram, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      const deadline = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended;
      clearTimeout(deadline);
    },
  };
}
