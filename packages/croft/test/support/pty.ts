import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { vi } from 'vitest';
import { collect } from './harness.ts';

interface PtyOptions {
  readonly env?: Record<string, string>;
  readonly columns?: number;
  readonly cwd?: string;
}

/** Starts a command line of the shell in a real pseudo-terminal. What it prints on either output is `text`. */
export function openPty(line: string, { env = {}, columns = 100, cwd = '/' }: PtyOptions = {}) {
  const sized = `stty cols ${columns} rows 40; ${line}`;
  const child = spawn('script', ['-qefc', sized, '/dev/null'], {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm-256color', SHELL: '/bin/bash', ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const closed = once(child, 'close');
  return {
    text: output.stdout,
    type: (keys: string) => child.stdin.write(keys),
    until: (pattern: RegExp, timeout = 20_000) =>
      vi.waitFor(
        () => {
          // Shells print colours and moves of the cursor between the letters.
          const text = stripVTControlCharacters(output.stdout());
          if (!pattern.test(text)) throw new Error(`not yet ${pattern}: ${text.slice(-600)}`);
        },
        { timeout, interval: 30 },
      ),
    /** The exit code of the command line. */
    ended: async () => (await closed)[0] as number | null,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}
