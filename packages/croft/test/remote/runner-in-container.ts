import { execFile } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { createEngineClient } from '../../src/providers/docker/engine-client.ts';
import { ensureMountPointImage } from '../../src/providers/docker/mount-point-image.ts';
import { makeDirectory } from '../support/harness.ts';
import type { TestEngine } from '../support/sandboxes/docker-engine.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../../..');
/** The uid in the documented command. */
const uid = 1000;

/** The documented container command, word by word. */
function documented(without: RegExp | undefined): string[] {
  const page = readFileSync(join(repository, 'docs/runners.md'), 'utf8');
  const [, block = ''] = /```sh[^\n]*\n(docker run [^`]+)```/.exec(page) ?? [];
  const joined = block.replaceAll('\\\n', ' ');
  return (without ? joined.replaceAll(without, '') : joined).split(/\s+/).filter((word) => word !== '');
}

export interface RunnerInContainerOptions {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  /** Part of the documented command to leave out. */
  readonly without?: RegExp;
  /** Words before `croft`. */
  readonly by?: readonly string[];
  /** More options for `docker run`. */
  readonly options?: readonly string[];
  readonly args?: readonly string[];
}

export type RunnerInContainer = Awaited<ReturnType<typeof prepareRunnerInContainer>>;

/** Prepares `croft runner` in a container as documented, with paths of this test. Starts nothing yet. */
export async function prepareRunnerInContainer(
  engine: TestEngine,
  { url, token, name, ...given }: RunnerInContainerOptions,
) {
  const image = await ensureMountPointImage(createEngineClient(engine.socket));
  const [own, secrets] = [makeDirectory(), makeDirectory()];
  const tokenFile = secrets.at('token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  for (const path of [own.path, tokenFile]) chownSync(path, uid, uid);
  // The image is empty: the system and Croft are this machine's own.
  const here = ['--network', 'host', '--volume', '/usr:/usr:ro', '--volume', `${repository}:/croft:ro`];
  const meant = new Map([
    ['croft-runner', [name]],
    ['/srv/croft:/srv/croft', [`${own.path}:/srv/croft`]],
    ['"$PWD/laptop.token:/token:ro"', [`${tokenFile}:/token:ro`]],
    ['IMAGE', [...here, ...(given.options ?? []), image]],
    ['croft', [...(given.by ?? []), '/croft/packages/croft/bin/croft']],
    ['https://croft.example', [url]],
  ]);
  const words = documented(given.without).flatMap((word) => meant.get(word) ?? [word]);
  const [, ...command] = [...words, ...(given.args ?? [])];
  const ask = (...args: string[]) => run('docker', ['-H', `unix://${engine.socket}`, ...args], { timeout: 60_000 });
  const docker = async (...args: string[]) => (await ask(...args)).stdout;
  return {
    files: own.path,
    docker,
    start: () => docker(...command),
    /** Waits for its end and returns the result. */
    async ended() {
      const code = Number(await docker('wait', name));
      const { stdout, stderr } = await ask('logs', name);
      return { code, said: `${stdout}${stderr}` };
    },
    /** Waits until no process matches, by state and command line. */
    untilNone: (what: RegExp) =>
      vi.waitFor(async () => {
        // `docker top` does not show zombies.
        const found = await docker('exec', name, 'ps', '-eo', 'pid,ppid,stat,args');
        if (what.test(found)) throw new Error(found);
      }),
    async [Symbol.asyncDispose]() {
      await docker('rm', '--force', name);
      own[Symbol.dispose]();
      secrets[Symbol.dispose]();
    },
  };
}
