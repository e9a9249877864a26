import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const headers = join(root, 'node_modules/node-api-headers/include');

// What one compiler warns of, the next refuses; and set-up shows nobody the warnings of what it compiled.
const folders = ['init', 'box', 'follow', 'search', 'relay', 'prober', 'files'];
test.each(folders)('the sources in native/%s compile without a warning', (folder) => {
  const native = join(root, 'packages/croft/native');
  const directory = join(native, folder);
  const files = readdirSync(directory, { encoding: 'utf8', recursive: true });
  const sources = files.filter((name) => name.endsWith('.c'));
  expect(sources.length).toBeGreaterThan(0);
  const flags = ['-O2', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', '-I', headers, '-iquote', native];
  const { status, stderr } = spawnSync('cc', [...flags, ...sources], { cwd: directory, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
