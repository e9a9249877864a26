import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from './page-types.ts';
import { resolveLink } from './resolve-link.ts';

/** Links that lead nowhere: to a missing file, to a missing heading, or to another host, which works only online. */
export function findBrokenLinks(pages: readonly Page[], root: string): string[] {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  return pages.flatMap(({ source, links }) =>
    links.flatMap((link) => {
      const problem = judge(source, link, bySource, root);
      return problem === undefined ? [] : [`${source}: the link ${link} ${problem}`];
    }),
  );
}

function judge(source: string, link: string, pages: ReadonlyMap<string, Page>, root: string): string | undefined {
  const target = resolveLink(source, link);
  if (target.kind === 'web') return 'leads to another host';
  if (target.kind === 'file') return existsSync(join(root, target.path)) ? undefined : 'leads to no file';
  const page = pages.get(target.source);
  // Some pages are read in the repository alone.
  if (!page) return existsSync(join(root, target.source)) ? undefined : 'leads to no page';
  const isThere = target.anchor === '' || page.headings.some(({ anchor }) => anchor === target.anchor);
  return isThere ? undefined : 'names no heading of that page';
}
