import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, vi } from 'vitest';
import { makeDirectory } from './harness.ts';

const reports = join(import.meta.dirname, '../fixtures/lint-reports');

/** A stand-in for a program in a project's `node_modules/.bin`. */
export const script = (body: string) => `#!/bin/sh\n${body}\n`;

/** A script that prints the recorded output of a tool and appends its arguments to `calls`. */
export function replay(tool: string, run: string): string {
  const { stdout, stderr, exitCode } = JSON.parse(readFileSync(join(reports, `${tool}.report.json`), 'utf8')).runs[run];
  const say = (text: string, to: string) =>
    `printf %s '${text.replaceAll("'", `'\\''`)}' | sed "s#/workspace#$PWD#g" >&${to}`;
  return script(`echo "$@" >> calls\n${say(stdout, '1')}\n${say(stderr, '2')}\nexit ${exitCode}`);
}

/** Makes a project with executable programs. */
export function makeProject(tree: Record<string, string>) {
  const directory = makeDirectory(tree);
  for (const name of Object.keys(tree)) if (name.includes('/.bin/')) chmodSync(directory.at(name), 0o755);
  return {
    ...directory,
    /** The arguments of each start of a `replay` program. */
    calls: () =>
      existsSync(directory.at('calls')) ? readFileSync(directory.at('calls'), 'utf8').trim().split('\n') : [],
  };
}

/**
 * Edits until an answer matches: on a busy machine an edit is answered before its linter ends, and a later answer has
 * the findings.
 */
export function untilSaid(edit: () => Promise<{ readonly text: string }>, words: RegExp): Promise<void> {
  return vi.waitFor(async () => expect((await edit()).text).toMatch(words), { timeout: 60_000 });
}

/** Installs the real Biome as a single file, because a sandbox sees no other directory of this machine. */
export function installBiome(directory: string): void {
  const require = createRequire(import.meta.resolve('@biomejs/biome/package.json'));
  const program = join(dirname(require.resolve(`@biomejs/cli-linux-${process.arch}/package.json`)), 'biome');
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
  copyFileSync(program, join(directory, 'node_modules/.bin/biome'));
}
