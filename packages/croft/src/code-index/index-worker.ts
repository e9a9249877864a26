import { answerQuestions, lowerThreadPriority } from '../lib/concurrency/worker-thread.ts';
import { isSqliteBusy, sqliteErrorKind, sqliteKinds } from '../lib/sqlite/sqlite-error-kind.ts';
import { findSymbols } from './find-symbols.ts';
import { closeIndex, type IndexDatabase, withIndex } from './index-database.ts';
import type { IndexReply, IndexRequest, IndexTask } from './index-questions.ts';
import { addFiles, isListed, listDue, noteChanges, takeListing } from './listed-files-table.ts';
import { rankFiles, tidyIndex } from './rank-files.ts';
import { rankSymbolsForMap } from './rank-symbols-for-map.ts';
import { storeReadFiles } from './store-read-files.ts';

lowerThreadPriority();

answerQuestions(({ file, maxBytes, task }: IndexRequest): IndexReply => {
  try {
    if (task.name === 'close') closeIndex(file);
    else return { answer: withIndex(file, maxBytes, (index) => work(index, file, task)) ?? null };
    return { answer: null };
  } catch (thrown) {
    const why = String(thrown);
    if (sqliteErrorKind(thrown) === sqliteKinds.full) return { failed: 'full', why };
    return { failed: isSqliteBusy(thrown) ? 'busy' : 'broken', why };
  }
});

function work(index: IndexDatabase, file: string, task: IndexTask): unknown {
  switch (task.name) {
    case 'state':
      return { isListed: isListed(index), due: listDue(index, task.given.limit) };
    case 'note':
      return noteChanges(index, task.given.paths);
    case 'add':
      return addFiles(index, task.given.paths);
    case 'list':
      return takeListing(index, file, task.given);
    case 'store':
      return storeReadFiles(index, task.given.files);
    case 'find':
      return index.read(() => findSymbols(index, task.given));
    case 'map':
      return index.read(() => rankSymbolsForMap(index, task.given));
    case 'rank':
      return rankFiles(index);
    case 'tidy':
      return tidyIndex(index);
    default:
      return null;
  }
}
