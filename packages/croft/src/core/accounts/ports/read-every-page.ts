import type { Paged, PageRequest } from './pages.ts';

const pageSize = 500;

/** Reads all rows of a list, page by page, within one transaction. */
export async function readEveryPage<Row>(list: (page: PageRequest) => Promise<Paged<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  let page: Paged<Row> | undefined;
  do {
    page = await list({ limit: pageSize, after: page?.next });
    rows.push(...page.rows);
  } while (page.next !== undefined);
  return rows;
}
