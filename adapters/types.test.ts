import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test.each([
  ['what the adapters of the package return fits the types of the frameworks', 'tsconfig.json'],
  ['the sources of the adapters fit them too, without `frameworks.d.ts`', 'tsconfig.sources.json'],
])('%s', (_, project) => {
  const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(import.meta.dirname, project)];
  const { status, stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
  expect([stdout, status]).toEqual(['', 0]);
});
