import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { RunningSearch, SearchBoxProvider } from '../../../src/core/content/search/search-box.ts';

/** Searches started without care: in the directory itself, with the whole machine visible. */
export function createNaiveSearches(): SearchBoxProvider {
  return {
    async open({ directoryFd }) {
      const cwd = readlinkSync(`/proc/self/fd/${directoryFd}`);
      if (!basename(dirname(cwd)).startsWith('escape-')) throw new Error(`${cwd} is not of a test`);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      return {
        start: ({ argv: [name, ...args], signal }) => search(name, args, { cwd, signal }),
        close: async () => resolve(),
        closed,
      };
    },
  };
}

/** Runs as the owner of the workspace, so that a search never runs as root. */
function search(name: string, args: readonly string[], options: { cwd: string; signal: AbortSignal }): RunningSearch {
  const { uid, gid } = statSync(options.cwd);
  const child = spawn(name, args, {
    ...options,
    uid,
    gid,
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const usage = { userMs: 0, systemMs: 0, maxRssBytes: 0 };
  const exit = once(child, 'close').then(([code, signal]) => ({ code, signal, usage }));
  return { stdout: child.stdout, stderr: child.stderr, exit, kill: () => void child.kill() };
}
