import { closeSync, constants, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Sandbox, SandboxLimits } from '../../../src/core/commands/sandbox.ts';
import { createBubblewrap } from '../../../src/providers/bubblewrap/provider.ts';
import { plantCanary } from '../canary.ts';
import { makeDirectory } from '../harness.ts';

export const megabyte = 1024 * 1024;
export const limits: SandboxLimits = {
  memoryBytes: 256 * megabyte,
  processes: 512,
  cpus: 2,
  fileBytes: 64 * megabyte,
  openFiles: 256,
  diskBytes: 64 * megabyte,
};

const provider = createBubblewrap({ path: process.env.PATH ?? '', home: homedir() });

/** Opens a sandbox on a directory, which may have had a sandbox before. */
export async function openAt(path: string, changed: Partial<SandboxLimits> = {}): Promise<Sandbox> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const sandbox = await provider.open({
    directoryFd: directory,
    workspacePath: '/workspace',
    limits: { ...limits, ...changed },
    network: { mode: 'deny-all' },
    readable: [],
  });
  onTestFinished(async () => {
    await sandbox.close();
    closeSync(directory);
  });
  return sandbox;
}

/** Makes a workspace with a canary beside it, which is checked at the end. */
export function makeFixture(tree: Record<string, string> = {}) {
  const fixture = makeDirectory();
  const directory = fixture.at('workspace');
  mkdirSync(directory);
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  const canary = plantCanary(fixture.at('canary'));
  onTestFinished(() => {
    const changes = canary.changes();
    fixture[Symbol.dispose]();
    expect(changes).toEqual([]);
  });
  return { directory, canary };
}

export async function open(tree: Record<string, string> = {}, changed: Partial<SandboxLimits> = {}) {
  const { directory, canary } = makeFixture(tree);
  return { sandbox: await openAt(directory, changed), directory, canary };
}
