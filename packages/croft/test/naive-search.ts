import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readlinkSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { SearchBoxProvider, Searching } from '../src/core/content/search-box.ts';

/** Searches as one starts them without a thought: in the directory itself, with the whole machine around it. */
export function createNaiveSearches(): SearchBoxProvider {
  return {
    async open({ directory }) {
      const cwd = readlinkSync(`/proc/self/fd/${directory}`);
      if (!basename(dirname(cwd)).startsWith('croft-escape-')) throw new Error(`${cwd} is not of a test`);
      const { promise: closed, resolve } = Promise.withResolvers<void>();
      return {
        start: ({ argv: [name, ...args], signal }) => search(name, args, { cwd, signal }),
        close: async () => resolve(),
        closed,
      };
    },
  };
}

/** As whoever the workspace belongs to, so that a search never is that of root. */
function search(name: string, args: readonly string[], options: { cwd: string; signal: AbortSignal }): Searching {
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
