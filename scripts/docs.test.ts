import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCroft } from '../packages/croft/test/support/harness.ts';
import { findEntries } from './docs/browser/find-entries.ts';
import { collectPages } from './docs/collect-pages.ts';
import type { Page } from './docs/page-types.ts';
import { readNotRun } from './docs/render-markdown-tokens.ts';
import { moveLinks } from './docs/resolve-link.ts';
import { canGoOffline, runBlocks, shellBlocks } from './docs/run-blocks.ts';
import { writeSearchIndex } from './docs/write-search-index.ts';
import { findProblems } from './docs.ts';

const root = join(import.meta.dirname, '..');
const pages = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root })];
const read = (page: string) => readFileSync(join(root, page), 'utf8');
const blocks = (page: string, language: string) =>
  [...read(page).matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, code = '']) => code);

/** Pages whose commands another test runs, because they need more than a home directory. */
const ownTests: Readonly<Record<string, string>> = {
  'docs/accounts.md': 'packages/croft/test/agents/docs.test.ts',
  'docs/cli.md': 'packages/croft/test/cli/client-commands.test.ts',
};

test('the README can be read in five minutes', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(130);
});

test.each(pages)('every link of %s leads to a file', (page) => {
  const links = [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([]);
});

test.each(pages)('every path that %s names exists', (page) => {
  const paths = [...read(page).matchAll(/`((?:packages|scripts|docs|core|tools|lib|test)\/[\w./-]+)`/g)];
  const roots = [root, join(root, 'packages/croft'), join(root, 'packages/croft/src')];
  const isThere = (path: string) => roots.some((folder) => existsSync(join(folder, path)));
  expect(paths.map(([, path = '']) => path).filter((path) => !isThere(path))).toEqual([]);
});

test.each(['README.md', 'docs/clients.md'])(
  'the configurations in %s are valid JSON and start the described program',
  (page) => {
    for (const block of blocks(page, 'json')) expect(JSON.parse(block).mcpServers.croft).toBeTypeOf('object');
  },
);

describe('the site', () => {
  let site: readonly Page[];
  beforeAll(async () => {
    site = (await collectPages(root)).pages;
  });

  test('names only pages, headings, commands, flags, routes, scripts and errors that exist', async () => {
    expect(await findProblems(site)).toEqual([]);
  });

  test('says what is wrong with a page', async () => {
    const [first] = site;
    const codes = ['croft srve', 'npx croft mcp --wrkspace .', 'npm run absent', 'GET /v1/absent'];
    const links = ['absent.md', 'docs/undo.md#absent', '#absent', 'https://host.example/'];
    const wrong = { ...first, markdown: 'E_ABSENT', links, codes: codes.map((text) => ({ text, info: undefined })) };
    const problems = await findProblems([...site.slice(1), wrong as Page]);
    expect(problems.map((problem) => problem.replace('README.md: ', ''))).toEqual([
      'the link absent.md leads to no page',
      'the link docs/undo.md#absent names no heading of that page',
      'the link #absent names no heading of that page',
      'the link https://host.example/ leads to another host',
      'there is no command croft srve',
      'croft mcp has no flag --wrkspace',
      'package.json has no script absent',
      'there is no route GET /v1/absent',
      'there is no error E_ABSENT',
    ]);
  });

  test('loads nothing from elsewhere, and has no script or style in a page', () => {
    for (const { html, source } of site) {
      expect(html.match(/<script|<style|<iframe| style=| on\w+=|(?:src|href)="(?:https?:)?\/\//g), source).toBeNull();
    }
  });

  test('has the Markdown of each page, whose links stay on the site', () => {
    const isThere = (address: string) => site.some(({ name }) => `${name}.md` === address.split('#')[0]);
    for (const { source, markdown } of site) {
      const moved = moveLinks(source, markdown, (other) => site.some((page) => page.source === other));
      const links = [...moved.replaceAll(/^```[\s\S]*?^```|`[^`\n]*`/gm, '').matchAll(/\]\(([^)\s]+)\)/g)].map(
        ([, to = '']) => to,
      );
      const away = links.filter((to) => !/^#|^images\/|^openapi\.json$/.test(to) && !isThere(to));
      // Files that only the repository has.
      expect(
        away.filter((to) => !/^(?:\.\.\/)?(?:AGENTS|clients\/README)\.md$/.test(to)),
        source,
      ).toEqual([]);
    }
  });

  test.each([
    ['take back a call', 'undo.html'],
    ['E_QUOTA', 'errors.html'],
    ['--allow-domain', 'commands.html'],
    ['wsl', 'platforms.html'],
  ])('a search for %s finds %s', (words, address) => {
    const index = JSON.parse(
      writeSearchIndex(site)
        .replace(/^[^[]*/, '')
        .replace(/;\n$/, ''),
    );
    expect(findEntries(index, words).map((match) => match.address.split('#')[0])).toContain(address);
    expect(findEntries(index, `${words} qwertz`)).toEqual([]);
  });
});

describe('the commands', () => {
  const withCommands = pages.filter((page) => shellBlocks(page).length > 0);

  test.each(pages)('every block of %s that is for a shell says so', (page) => {
    const unmarked = blocks(page, '').filter((block) => /^\s*(?:sudo |npx )?(?:croft|npm|docker|curl) /m.test(block));
    expect(page === 'CONTRIBUTING.md' || page === 'docs/configuration.md' ? [] : unmarked).toEqual([]);
  });

  test.each(Object.entries(ownTests))('of %s are run by %s', (page, file) => {
    expect(read(file)).toContain(page);
  });

  test.skipIf(!canGoOffline).each(withCommands.filter((page) => !(page in ownTests)))(
    'of %s work as they are written',
    async (page) => {
      const run = shellBlocks(page).filter(({ info }) => readNotRun(info) === undefined);
      if (run.length === 0) return;
      const { exitCode, output } = await runBlocks(run.map(({ code }) => code));
      expect(exitCode, output).toBe(0);
    },
  );

  test('that are not run say why', () => {
    for (const page of withCommands)
      for (const { info } of shellBlocks(page)) expect(info).toMatch(/^sh(?: not-run="[^"]{10,}")?$/);
  });
});

test('the calls shown for a shell give the described results', async () => {
  const good = await runCroft(['tool', 'read', '{"file_path": "README.md"}'], { cwd: root });
  expect(good).toMatchObject({ exitCode: 0, stderr: '' });
  const bad = await runCroft(['tool', 'read', '{"file_path": "../secret"}', '--json'], { cwd: root });
  expect(bad).toMatchObject({ exitCode: 1, stdout: '' });
  expect(JSON.parse(bad.stderr).error.code).toBe('E_SANDBOX_VIOLATION');
});
