import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../scripts/install-packages.ts';
import { libraries, stageLibraries } from '../scripts/pack/library-packages.ts';

const modules = join(import.meta.dirname, 'node_modules');

/** Run by vitest before the tests of this folder. */
export async function setup(): Promise<void> {
  await installPackages({
    folder: import.meta.dirname,
    what: 'the frameworks',
    timeoutMs: 300_000,
    flags: ['--legacy-peer-deps', '--ignore-scripts'],
    say: (progress) => process.stderr.write(`${progress}\n`),
  });
  installLibraries();
}

/** The SDK as `npm run pack` makes it, so that it and the tests find the same copy of each framework. */
function installLibraries(): void {
  const stage = mkdtempSync(join(tmpdir(), 'croft-adapters-'));
  try {
    const directories = stageLibraries(stage);
    rmSync(join(modules, '@croft'), { recursive: true, force: true });
    for (const [index, name] of libraries.entries())
      cpSync(directories[index] ?? '', join(modules, '@croft', name), { recursive: true });
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}
