import { nameOf } from './contents.ts';
import type { Page } from './page-types.ts';

/** One part of a page that a search can find: file name, title of the page, heading, anchor, text. */
export type SearchEntry = readonly [string, string, string, string, string];

/** The longest sections are tables of the references. */
const maxBody = 10_000;

/** A script and not JSON: a page that was opened from a disk, without a server, may load scripts and nothing else. */
export function writeSearchIndex(pages: readonly Page[]): string {
  const entries = pages.flatMap(({ source, title, headings }) =>
    headings.map(({ text, anchor, depth, body }): SearchEntry => {
      const address = `${nameOf(source)}.html`;
      return [address, title, depth === 1 ? '' : text, depth === 1 ? '' : anchor, body.slice(0, maxBody)];
    }),
  );
  return `globalThis.croftDocs = ${JSON.stringify(entries)};\n`;
}
