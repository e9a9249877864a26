import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { connectStdio, makeDirectory } from '../support/harness.ts';

const stub = join(import.meta.dirname, '../fixtures/language-server.mjs');

/** Starts a real `croft mcp` in a new workspace, with stand-ins for servers that the tests do not install. */
export async function startWithStubs(
  files: Record<string, string | Buffer>,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
) {
  const fixture = makeDirectory({ 'bin/language-server.mjs': readFileSync(stub) });
  for (const name of ['zls', 'phpactor', 'jdtls']) {
    writeFileSync(fixture.at(`bin/${name}`), `#!/bin/sh\nexec node ${fixture.at('bin/language-server.mjs')}\n`);
    chmodSync(fixture.at(`bin/${name}`), 0o755);
  }
  const workspace = fixture.at('workspace');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(workspace, name, '..'), { recursive: true });
    writeFileSync(join(workspace, name), content);
  }
  const args = ['--workspace', workspace, '--allow-read', fixture.at('bin'), ...flags];
  const session = await connectStdio(args, { env: { PATH: `${fixture.at('bin')}:${process.env.PATH}`, ...env } });
  const close = async () => {
    await session[Symbol.asyncDispose]();
    fixture[Symbol.dispose]();
  };
  const set = (name: string, content: string) => writeFileSync(join(workspace, name), content);
  return { ...session, workspace, set, close };
}

/** The same for one test. */
export async function openWithStubs(...options: Parameters<typeof startWithStubs>) {
  const started = await startWithStubs(...options);
  onTestFinished(started.close);
  return started;
}

/** Process ids by a part of their command line and their working directory. */
export function processesIn(workspace: string, word: string): number[] {
  const isOne = (pid: string) => {
    try {
      const hasWord = readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
      return hasWord && readFileSync(`/proc/${pid}/mountinfo`, 'utf8').includes(workspace);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isOne(name))
    .map(Number);
}
