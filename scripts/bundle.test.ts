import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
// @ts-expect-error plain JavaScript, without types
import { isBundleCurrent } from '../packages/croft/bin/bundle.mjs';

const longAgo = new Date('2020-01-01');
const lately = new Date('2020-01-02');
const now = new Date('2020-01-03');

let root = '';
const at = (path: string) => join(root, path);
const isCurrent = () => isBundleCurrent(at('packages/croft'));

/** All that is there is old, and the bundle is a day newer. */
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'croft-test-'));
  const sources = ['packages/croft/src/core/a.ts', 'packages/croft/src/core/a.test.ts', 'packages/sdk/src/b.ts'];
  for (const file of [...sources, 'packages/croft/dist/main.js', 'package-lock.json']) {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), '');
  }
  age('packages/croft/src', 'packages/croft/src/core', 'packages/sdk/src', ...sources, 'package-lock.json');
  utimesSync(at('packages/croft/dist/main.js'), lately, lately);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function age(...paths: string[]): void {
  for (const path of paths) utimesSync(at(path), longAgo, longAgo);
}

test('a bundle is current until a source or the lock file is newer', () => {
  expect(isCurrent()).toBe(true);
  for (const file of ['packages/croft/src/core/a.ts', 'packages/sdk/src/b.ts', 'package-lock.json']) {
    utimesSync(at(file), now, now);
    expect([file, isCurrent()]).toEqual([file, false]);
    age(file);
  }
  expect(isCurrent()).toBe(true);
});

test('a source that was removed or moved makes it old, a test that changed does not', () => {
  utimesSync(at('packages/croft/src/core/a.test.ts'), now, now);
  expect(isCurrent()).toBe(true);
  renameSync(at('packages/croft/src/core/a.ts'), at('packages/croft/src/core/c.ts'));
  expect(isCurrent()).toBe(false);
  age('packages/croft/src/core');
  rmSync(at('packages/croft/src/core/c.ts'));
  expect(isCurrent()).toBe(false);
});

test('an installed package has a bundle and no sources', () => {
  for (const path of ['packages/croft/src', 'packages/sdk', 'package-lock.json']) rmSync(at(path), { recursive: true });
  expect(isCurrent()).toBe(true);
  rmSync(at('packages/croft/dist'), { recursive: true });
  expect(isCurrent()).toBe(false);
});
