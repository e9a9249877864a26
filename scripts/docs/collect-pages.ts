import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sections } from './contents.ts';
import type { Drawing, Page } from './page.ts';
import { readPage } from './read-page.ts';

export interface CollectedPages {
  /** In the order of the navigation. */
  readonly pages: readonly Page[];
  readonly drawings: readonly Drawing[];
}

/** Reads every page of the navigation. Throws for a page of `docs` that the navigation does not have, or has twice. */
export async function collectPages(root: string): Promise<CollectedPages> {
  const listed = sections.flatMap(({ sources }) => sources);
  const there = new Set(globSync('docs/*.md', { cwd: root }));
  const unlisted = [...there].filter((source) => !listed.includes(source));
  const repeated = listed.filter((source, index) => listed.indexOf(source) !== index);
  if (unlisted.length + repeated.length > 0)
    throw new Error(`scripts/docs/contents.ts has to name each page once: ${[...unlisted, ...repeated].join(', ')}`);
  const isPage = (source: string) => listed.includes(source);
  const read = listed.map((source) => readPage(source, readFileSync(join(root, source), 'utf8'), isPage));
  const all = await Promise.all(read);
  return { pages: all.map(({ page }) => page), drawings: all.flatMap(({ drawings }) => drawings) };
}
