import { closeSync, constants, openSync } from 'node:fs';
import { homedir } from 'node:os';
import type { Sandbox } from '../packages/croft/src/core/commands/sandbox.ts';
import { createBubblewrap } from '../packages/croft/src/providers/index.ts';
import { command } from './bare-processes.ts';

export const limits = {
  memoryBytes: 1024 ** 3,
  processes: 256,
  cpus: 2,
  fileBytes: 1024 ** 3,
  openFiles: 1024,
  diskBytes: 1024 ** 3,
};

/** One provider for the whole bench, as a server has one. */
const provider = createBubblewrap({ path: process.env.PATH ?? '', home: homedir() });

/** Sandboxes of a directory at the `Sandbox` port, with nothing between it and the bench. */
export function openPort(path: string) {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  return {
    /** Answers with what runs `bash -c true` in it. */
    async open() {
      const sandbox = await provider.open({
        directoryFd: directory,
        workspacePath: path,
        limits,
        network: { mode: 'deny-all' },
        readable: [],
      });
      return { run: () => runIn(sandbox), close: () => sandbox.close() };
    },
    [Symbol.dispose]: () => closeSync(directory),
  };
}

const { signal } = new AbortController();

/** `bash -c true`, to its end. */
export async function runIn(sandbox: Sandbox): Promise<void> {
  const running = sandbox.start({ argv: command, signal });
  running.stdout.resume();
  running.stderr.resume();
  const { code } = await running.exit;
  if (code !== 0) throw new Error(`exit ${code}`);
}
