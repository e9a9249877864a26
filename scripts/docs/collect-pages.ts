import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Section, toSections } from './contents.ts';
import type { Drawing, Page } from './page-types.ts';
import { readPage } from './read-page.ts';

export interface CollectedPages {
  readonly sections: readonly Section[];
  /** In the order of the navigation. */
  readonly pages: readonly Page[];
  readonly drawings: readonly Drawing[];
}

/** Reads every page of the navigation. */
export async function collectPages(root: string): Promise<CollectedPages> {
  const sections = toSections(globSync('docs/*.md', { cwd: root }).sort());
  const sources = sections.flatMap((section) => section.sources);
  const isPage = (source: string) => sources.includes(source);
  const read = sources.map((source) => readPage(source, readFileSync(join(root, source), 'utf8'), isPage));
  const all = await Promise.all(read);
  return { sections, pages: all.map(({ page }) => page), drawings: all.flatMap(({ drawings }) => drawings) };
}
