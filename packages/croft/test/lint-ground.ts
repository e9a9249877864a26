import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeDirectory } from './harness.ts';

const reports = join(import.meta.dirname, 'fixtures/lint-reports');

/** A program for a project's `node_modules/.bin`, in place of the real one. */
export const script = (body: string) => `#!/bin/sh\n${body}\n`;

/** Says what the tool said when it was recorded, and leaves a line in `calls` with its arguments. */
export function replay(tool: string, run: string): string {
  const { stdout, stderr, exitCode } = JSON.parse(readFileSync(join(reports, `${tool}.report.json`), 'utf8')).runs[run];
  const say = (text: string, to: string) =>
    `printf %s '${text.replaceAll("'", `'\\''`)}' | sed "s#/workspace#$PWD#g" >&${to}`;
  return script(`echo "$@" >> calls\n${say(stdout, '1')}\n${say(stderr, '2')}\nexit ${exitCode}`);
}

/** A project whose own programs can be started. */
export function makeProject(tree: Record<string, string>) {
  const directory = makeDirectory(tree);
  for (const name of Object.keys(tree)) if (name.includes('/.bin/')) chmodSync(directory.at(name), 0o755);
  return {
    ...directory,
    /** How often, and with what, programs of `replay` were started. */
    calls: () =>
      existsSync(directory.at('calls')) ? readFileSync(directory.at('calls'), 'utf8').trim().split('\n') : [],
  };
}

/** The real one, as a single file: a sandbox sees no other directory of this machine. */
export function installBiome(directory: string): void {
  const require = createRequire(import.meta.resolve('@biomejs/biome/package.json'));
  const program = join(dirname(require.resolve(`@biomejs/cli-linux-${process.arch}/package.json`)), 'biome');
  mkdirSync(join(directory, 'node_modules/.bin'), { recursive: true });
  copyFileSync(program, join(directory, 'node_modules/.bin/biome'));
}
