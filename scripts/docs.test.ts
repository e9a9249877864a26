import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../packages/croft/src/cli/commands/index.ts';
import { runCroft } from '../packages/croft/test/support/harness.ts';

const root = join(import.meta.dirname, '..');
const pages = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root })];
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const blocks = (page: string, language: string) =>
  [...read(page).matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);

test('the README can be read in five minutes', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(130);
});

test.each(pages)('every link of %s leads to a file', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

test.each(pages)('every path that %s names exists', (page) => {
  const paths = [...read(page).matchAll(/`((?:packages|scripts|docs|core|tools|lib|test)\/[\w./-]+)`/g)];
  const places = [root, join(root, 'packages/croft'), join(root, 'packages/croft/src')];
  const isThere = (path: string) => places.some((place) => existsSync(join(place, path)));
  expect(paths.map(([, path = '']) => path).filter((path) => !isThere(path))).toEqual([]);
});

test.each(['README.md', 'docs/clients.md'])(
  'the configurations in %s are valid JSON and start the described program',
  (page) => {
    for (const block of blocks(page, 'json')) expect(JSON.parse(block).mcpServers.croft).toBeTypeOf('object');
  },
);

test.each(['README.md', 'docs/cli.md', 'docs/clients.md', 'docs/runners.md'])(
  'every command in %s exists, with those flags',
  async (page) => {
    const loaded = await Promise.all(Object.values(commands).map(({ load }) => load()));
    const lines = blocks(page, 'sh').flatMap((block) => block.match(/^(?:npx )?croft .*$/gm) ?? []);
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) {
      const command = loaded.find(({ name }) => `${line} `.includes(`croft ${name} `));
      const flags = [...line.matchAll(/ --([a-z-]+)/g)].map(([, flag = '']) => flag);
      expect(Object.keys(command?.options ?? {})).toEqual(expect.arrayContaining(flags));
    }
  },
);

test('the calls shown for a shell give the described results', async () => {
  const good = await runCroft(['tool', 'read', '{"file_path": "README.md"}'], { cwd: root });
  expect(good).toMatchObject({ exitCode: 0, stderr: '' });
  const bad = await runCroft(['tool', 'read', '{"file_path": "../secret"}', '--json'], { cwd: root });
  expect(bad).toMatchObject({ exitCode: 1, stdout: '' });
  expect(JSON.parse(bad.stderr).error.code).toBe('E_SANDBOX_VIOLATION');
});
