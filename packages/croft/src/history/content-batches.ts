import type { Content, HistoryStore } from '../core/history/store.ts';

const batchBytes = 8 * 1024 * 1024;
const batchLength = 2000;

/** Keeps contents as they are found, many at a time and never more than fit in memory. */
export function createContentBatches(store: Pick<HistoryStore, 'keep'>) {
  let waiting: Content[] = [];
  let bytes = 0;

  async function flush(): Promise<void> {
    const batch = waiting;
    [waiting, bytes] = [[], 0];
    if (batch.length > 0) await store.keep(batch);
  }

  return {
    flush,
    async add(content: Content): Promise<void> {
      // A large one is read from where it stands, which is open now.
      if (typeof content.bytes === 'function') return store.keep([content]);
      waiting.push(content);
      bytes += content.size;
      if (bytes > batchBytes || waiting.length >= batchLength) await flush();
    },
  };
}
