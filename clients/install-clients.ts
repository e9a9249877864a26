import { installPackages } from '../scripts/install-packages.ts';

/** Run by vitest before the tests of this folder. */
export async function setup(): Promise<void> {
  await installPackages({
    folder: import.meta.dirname,
    what: 'the clients',
    timeoutMs: 600_000,
    flags: ['--legacy-peer-deps', '--ignore-scripts'],
    say: (progress) => process.stderr.write(`${progress}\n`),
  });
}
