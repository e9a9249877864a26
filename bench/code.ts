import { join } from 'node:path';
import { type Bench, isWanted, type Row, type Say, type Selection } from './bench.ts';
import { copySources } from './code/copy-sources.ts';
import { definitions } from './code/definitions.ts';
import { firstHits } from './code/first-hits.ts';
import { firstReferences } from './code/first-references.ts';
import { freshness } from './code/freshness.ts';
import { outline } from './code/outline.ts';
import { patterns } from './code/patterns.ts';
import { search } from './code/search.ts';
import { sessions } from './code/sessions.ts';
import { makeScratch } from './scratch-trees.ts';

/** Some figures of code intelligence. */
export interface CodeFigures {
  /** The first word of the rows of these figures. `--row` selects rows by it. */
  readonly what: string;
  measure(options: CodeFiguresOptions): Promise<readonly Row[]>;
}

export interface CodeFiguresOptions {
  /** An empty directory, removed at the end. */
  readonly scratch: string;
  /** A copy of the sources of Croft: real TypeScript that does not change during the bench. */
  readonly sources: string;
  readonly only: Selection;
  readonly say: Say;
}

const all: readonly CodeFigures[] = [
  patterns,
  outline,
  freshness,
  firstReferences,
  definitions,
  firstHits,
  sessions,
  search,
];

/** Code intelligence over MCP stdio, each figure beside the program that does the same. */
export const code: Bench = {
  name: 'code',
  async run(say, only) {
    using scratch = makeScratch();
    const sources = copySources(join(scratch.path, 'sources'));
    const rows: Row[] = [];
    for (const [index, { what, measure }] of all.entries()) {
      if (!isWanted(what, only)) continue;
      say(what);
      rows.push(...(await measure({ scratch: join(scratch.path, String(index)), sources, only, say })));
    }
    return { rows };
  },
};
