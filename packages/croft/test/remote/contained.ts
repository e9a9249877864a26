import { execFile } from 'node:child_process';
import { chownSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { createEngine } from '../../src/providers/docker/engine.ts';
import { ensureHostImage } from '../../src/providers/docker/host-image.ts';
import type { TestEngine } from '../docker-engine.ts';
import { makeDirectory } from '../harness.ts';

const run = promisify(execFile);
const repository = join(import.meta.dirname, '../../../..');
/** Who the documented command runs it as. */
const uid = 1000;

/** The command for a container as people read it, word by word. */
function documented(without: RegExp | undefined): string[] {
  const page = readFileSync(join(repository, 'docs/runners.md'), 'utf8');
  const [, block = ''] = /```sh\n(docker run [^`]+)```/.exec(page) ?? [];
  const joined = block.replaceAll('\\\n', ' ');
  return (without ? joined.replaceAll(without, '') : joined).split(/\s+/).filter((word) => word !== '');
}

export interface ContainedOptions {
  readonly url: string;
  readonly token: string;
  readonly name: string;
  /** What is left out of the documented command. */
  readonly without?: RegExp;
  /** What starts `croft`. */
  readonly by?: readonly string[];
  /** For `docker run`, before the image. */
  readonly options?: readonly string[];
  readonly args?: readonly string[];
}

export type Contained = Awaited<ReturnType<typeof prepareContained>>;

/** `croft runner` in a container, as documented but for where everything is. Nothing is started yet. */
export async function prepareContained(engine: TestEngine, { url, token, name, ...given }: ContainedOptions) {
  const image = await ensureHostImage(createEngine(engine.socket));
  const [own, secrets] = [makeDirectory(), makeDirectory()];
  const tokenFile = secrets.at('token');
  writeFileSync(tokenFile, token, { mode: 0o600 });
  for (const path of [own.path, tokenFile]) chownSync(path, uid, uid);
  // The image has nothing in it: the system and Croft are this machine's own.
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
    /** What became of it, when it has ended by itself. */
    async ended() {
      const code = Number(await docker('wait', name));
      const { stdout, stderr } = await ask('logs', name);
      return { code, said: `${stdout}${stderr}` };
    },
    /** Until none of its processes, by their state and what they were started as, is such a one. */
    untilNone: (what: RegExp) =>
      vi.waitFor(async () => {
        // Docker itself does not show those that have ended and wait for somebody to care.
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
