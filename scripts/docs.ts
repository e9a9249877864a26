import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleScript } from './docs/bundle-script.ts';
import { collectPages } from './docs/collect-pages.ts';
import { findBrokenLinks } from './docs/find-broken-links.ts';
import { findUnknownNames } from './docs/find-unknown-names.ts';
import type { Page } from './docs/page-types.ts';
import { readKnownNames } from './docs/read-known-names.ts';
import { moveLinks } from './docs/resolve-link.ts';
import { writeHtml } from './docs/write-html.ts';
import { writeLlms } from './docs/write-llms.ts';
import { writeSearchIndex } from './docs/write-search-index.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'docs/dist');
const looks = ['packages/dashboard/src/look/tokens.css', 'scripts/docs/site.css'];

/** Links that lead nowhere, and commands, flags, routes and errors that do not exist. */
export async function findProblems(pages: readonly Page[]): Promise<string[]> {
  return [...findBrokenLinks(pages, root), ...findUnknownNames(pages, await readKnownNames(root))];
}

/** Builds the site into `docs/dist`, where the server finds it. Throws if a link or a command of a page is wrong. */
export async function makeDocs(): Promise<void> {
  const startedAt = new Date();
  const { sections, pages, drawings } = await collectPages(root);
  const problems = await findProblems(pages);
  if (problems.length > 0) throw new Error(`the documentation is wrong:\n  ${problems.join('\n  ')}`);
  const made = `${target}.${process.pid}`;
  try {
    const site = { sections, pages: new Map(pages.map((page) => [page.source, page])) };
    const write = (name: string, content: string | Uint8Array) => writeInto(made, name, content);
    for (const page of pages) {
      write(`${page.name}.html`, writeHtml(page, site));
      write(
        `${page.name}.md`,
        moveLinks(page.source, page.markdown, (source) => site.pages.has(source)),
      );
    }
    for (const { name, svg } of drawings) write(`images/${name}`, svg);
    write('site.css', looks.map((path) => readFileSync(join(root, path), 'utf8')).join('\n'));
    write('site.js', await bundleScript());
    write('search.js', writeSearchIndex(pages));
    write('llms.txt', writeLlms(sections, site.pages));
    cpSync(join(root, 'docs/images'), join(made, 'images'), { recursive: true });
    cpSync(join(root, 'openapi.json'), join(made, 'openapi.json'));
    utimesSync(join(made, 'index.html'), startedAt, startedAt);
    replace(made);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

function writeInto(made: string, name: string, content: string | Uint8Array): void {
  const file = join(made, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function replace(made: string): void {
  const old = `${target}.old`;
  mkdirSync(target, { recursive: true });
  renameSync(target, old);
  renameSync(made, target);
  rmSync(old, { recursive: true, force: true });
}

if (import.meta.main) await makeDocs();
