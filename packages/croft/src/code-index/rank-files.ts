import { readFileGraph } from './file-graph.ts';
import type { IndexDatabase } from './index-database.ts';
import { pageRank } from './page-rank.ts';

/** Works out anew how much each file matters to the others. A file of average weight has rank 1. */
export function rankFiles(index: IndexDatabase): void {
  const { ids, edges } = readFileGraph(index);
  const ranks = pageRank(ids.length, edges);
  index.write(() => {
    const update = index.prepare('UPDATE files SET rank = ? WHERE id = ? AND abs(rank - ?) > 0.05');
    for (const [number, id] of ids.entries()) {
      const rank = (ranks[number] ?? 0) * ids.length;
      update.run(rank, id, rank);
    }
  });
}

/** Merges the parts in which words were stored while the index was built, and gives back the space that this frees. */
export function tidyIndex(index: IndexDatabase): void {
  for (const table of ['symbol_words', 'file_words'])
    index.write(() => index.prepare(`INSERT INTO ${table} (${table}) VALUES ('optimize')`).run());
  index.prepare('VACUUM').run();
  index.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
}
