import type { Page, Paged } from './records.ts';

const pageSize = 500;

/** All rows of a list, read page by page within one transaction. */
export async function readEveryPage<Row>(list: (page: Page) => Promise<Paged<Row>>): Promise<Row[]> {
  const rows: Row[] = [];
  let page: Paged<Row> | undefined;
  do {
    page = await list({ limit: pageSize, after: page?.next });
    rows.push(...page.rows);
  } while (page.next !== undefined);
  return rows;
}
