import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compileWildmatch } from '../../src/core/content/ignore/wildmatch.ts';
import type { WorkingTree } from '../../src/core/history/ports/working-tree.ts';
import { sha256 } from '../../src/lib/crypto/sha256.ts';
import { prepareTree } from './trees.ts';

const env = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
};

/** The files that git itself does not ignore. */
function askGit(path: string): string[] {
  const args = ['-C', path, 'ls-files', '-z', '--others', '--cached', '--exclude-standard'];
  return execFileSync('git', args, { env, encoding: 'latin1' }).split('\0').filter(Boolean).sort();
}

async function inSource(tree: WorkingTree): Promise<string[]> {
  const { root } = await tree.capture({ scope: 'source' });
  const all = await Array.fromAsync(tree.entries(root));
  return all
    .filter(({ entry }) => entry.kind !== 'directory')
    .map(({ path }) => Buffer.from(path).toString('latin1'))
    .sort();
}

const piece = fc.constantFrom(
  ...[
    'a',
    'b',
    'ab',
    'a.o',
    'x y',
    'é',
    '*',
    '**',
    '?',
    '*.o',
    'a*',
    '*b',
    '[ab]',
    '[!a]',
    '[^b]',
    '[a-c]*',
    '[[:alpha:]]',
    '[]a]',
  ],
  ...[
    '\\*',
    '\\a',
    '[',
    '[a',
    'a\\',
    '***',
    '[\\]a]',
    '[a-',
    '[[:foo:]]',
    '?b',
    '[[:digit:]x]',
    '#a',
    '!a',
    '\\!a',
    '\\#a',
    'a**b',
    '[/]',
  ],
);
const rule = fc
  .tuple(
    fc.constantFrom('', '', '', '!', '/', '!/', '**/', '#', '\\'),
    fc.array(piece, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('/', '/', '', '//'),
    fc.constantFrom('', '', '/', '/**', '/*', ' ', '\\ ', '\t', '\r', '  '),
  )
  .map(([start, names, between, end]) => start + names.join(between) + end);
const rules = fc.array(rule, { maxLength: 6 }).map((lines) => lines.join('\n'));
const names = ['a', 'b', 'ab', 'a.o', 'x y', 'é', '#a', '!a', 'aXb', 'a]', '1', 'a '];
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));

test('captures the files that git does not ignore, for any rules', async () => {
  const fixture = prepareTree();
  const tree = await fixture.open();
  const check = async (paths: string[], ignores: [string | undefined, string][]) => {
    for (const name of readdirSync(fixture.path)) rmSync(fixture.at(name), { recursive: true });
    execFileSync('git', ['-C', fixture.path, 'init', '-q'], { env });
    const write = (file: string, text: string) => {
      try {
        mkdirSync(dirname(fixture.at(file)), { recursive: true });
        writeFileSync(fixture.at(file), text);
      } catch {
        // One name cannot be a file and a directory.
      }
    };
    for (const each of paths) write(each, each);
    for (const [where, text] of ignores) write(where === undefined ? '.gitignore' : `${where}/.gitignore`, text);
    expect(await inSource(tree)).toEqual(askGit(fixture.path));
  };
  const ignores = fc.array(fc.tuple(fc.option(path, { nil: undefined }), rules), { maxLength: 4 });
  await fc.assert(fc.asyncProperty(fc.array(path, { minLength: 1, maxLength: 25 }), ignores, check), { numRuns: 40 });
}, 120_000);

test('a changed rule applies to everything below it, cached paths too', async () => {
  const fixture = prepareTree({ 'a/b/x.log': '1', 'a/b/y.txt': '2', 'build/out.o': '3', '.gitignore': 'build\n' });
  execFileSync('git', ['-C', fixture.path, 'init', '-q'], { env });
  const tree = await fixture.open();
  const same = async () => {
    const found = await inSource(tree);
    expect(found).toEqual(askGit(fixture.path));
    return found;
  };
  expect(await same()).toContain('a/b/x.log');
  appendFileSync(fixture.at('.gitignore'), '*.log\n');
  expect(await same()).not.toContain('a/b/x.log');
  writeFileSync(fixture.at('a/.gitignore'), '!*.log\n');
  expect(await same()).toContain('a/b/x.log');
  writeFileSync(fixture.at('.gitignore'), 'build/*\n!build/out.o\n');
  expect(await same()).toContain('build/out.o');
  renameSync(fixture.at('a'), fixture.at('c'));
  expect(await same()).toContain('c/b/x.log');
  rmSync(fixture.at('.gitignore'));
  await same();
  // A link to rules is none.
  writeFileSync(fixture.at('elsewhere'), '*\n');
  symlinkSync('elsewhere', fixture.at('.gitignore'));
  await same();
});

test('ignored directories are not read for the scope source, and are read for the scope all', async () => {
  const fixture = prepareTree({
    'node_modules/m/index.js': 'secret of a package',
    'src/a.ts': 'a',
    '.gitignore': 'node_modules\n',
  });
  const tree = await fixture.open();
  const { root } = await tree.capture({ scope: 'source' });
  expect(await tree.entry(root, 'node_modules')).toBeUndefined();
  expect((await tree.store.findMissing([sha256('secret of a package')])).size).toBe(1);
  const all = await tree.capture({ scope: 'with-ignored' });
  const entry = await tree.entry(all.root, 'node_modules/m/index.js');
  expect((await tree.store.read(entry!.hash)).toString()).toBe('secret of a package');
  expect((await tree.capture({ scope: 'source' })).root).toBe(root);
});

test('a pattern made to be slow takes little time', () => {
  const { matches } = compileWildmatch(`${'*a'.repeat(40)}b`)!;
  expect(matches('a'.repeat(250))).toBe(false);
  expect(matches(`${'a'.repeat(250)}b`)).toBe(true);
  expect(compileWildmatch(`${'**/'.repeat(30)}x`)!.matches(`${'a/'.repeat(500)}y`)).toBe(false);
});
