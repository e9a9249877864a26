import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Escape, EscapeFixture } from './escape.ts';
import { toVerdict } from './to-verdict.ts';

/** Attempts on a host where a guard is missing, or where the workspace offers programs of its own. */
export const kernelMissingGuards: readonly Escape[] = [
  {
    id: 'B41',
    title: 'a kernel that lacks a guard',
    guards: ['refusal'],
    attempt: async () => ({ skipped: 'a kernel cannot be made older; `croft doctor` tells what this one has' }),
  },
  {
    id: 'B42',
    title: 'a command where there is no sandbox',
    guards: ['refusal'],
    async attempt(fixture) {
      // A path at which nothing can be mounted, so that no sandbox can be opened.
      const broken = await fixture.open({ root: '/proc/nowhere' });
      const { isError, structured } = await broken.call('bash', { command: 'echo ran; touch was-run' });
      const isRefused = isError && structured.code === 'E_SANDBOX_UNAVAILABLE';
      const wasRun = existsSync(join(broken.workspace, 'was-run'));
      return toVerdict(!isRefused && 'the command was not refused', wasRun && 'the command was run');
    },
  },
  {
    id: 'B43',
    title: 'a workspace that brings its own bwrap and rg',
    guards: ['environment'],
    attempt: attemptOwnPrograms,
  },
  {
    id: 'B44',
    title: 'a sandbox that is not whole',
    guards: ['system-calls', 'capabilities', 'mounts'],
    async attempt(fixture) {
      const { output } = await fixture.run('cat /proc/self/status');
      const missing = ['Seccomp:\t2', 'NoNewPrivs:\t1', 'CapEff:\t0000000000000000'].filter(
        (line) => !output.includes(line),
      );
      return toVerdict(missing.map((line) => `it lacks ${line.replace('\t', ' ')}`));
    },
  },
];

async function attemptOwnPrograms(fixture: EscapeFixture) {
  const fake = '#!/bin/sh\ntouch "$0.was-run"\n';
  const names = ['bwrap', 'rg', 'git', 'ldd', 'sh'];
  const shop = await fixture.open({ tree: Object.fromEntries(names.map((name) => [`bin/${name}`, fake])) });
  const PATH = `${shop.workspace}/bin:.:bin:/usr/bin:/bin`;
  const victim = await shop.open({ variables: { PATH }, tree: Object.fromEntries(names.map((name) => [name, fake])) });
  const answers = [await victim.call('bash', { command: 'true' }), await victim.call('grep', { pattern: 'touch' })];
  const directories = [join(shop.workspace, 'bin'), victim.workspace, join(victim.workspace, 'bin')];
  const files = directories.flatMap((directory) => names.map((name) => join(directory, `${name}.was-run`)));
  const run = files.filter((file) => existsSync(file));
  const failed = answers.find(({ isError }) => isError);
  if (failed && run.length === 0) throw new Error(failed.text);
  return toVerdict(run.map((file) => `${file} was run`));
}
