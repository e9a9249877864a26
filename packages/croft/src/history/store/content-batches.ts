import type { Content, HistoryStore } from '../../core/history/ports/history-store.ts';
import { historyFull } from './history-quota.ts';

const batchBytes = 8 * 1024 * 1024;
const batchLength = 2000;

/** Stores contents in batches as they are found, within a memory limit. */
export function createContentBatches(store: Pick<HistoryStore, 'put' | 'quota'>) {
  let waiting: Content[] = [];
  let bytes = 0;

  async function flush(): Promise<void> {
    const batch = waiting;
    [waiting, bytes] = [[], 0];
    if (batch.length > 0) await store.put(batch);
  }

  return {
    flush,
    async add(content: Content): Promise<void> {
      if (store.quota?.reserve(content.size) === false) throw historyFull(store.quota);
      // A large content is read from its file, which is open now, so it is stored at once.
      if (typeof content.bytes === 'function') return store.put([content]);
      waiting.push(content);
      bytes += content.size;
      if (bytes > batchBytes || waiting.length >= batchLength) await flush();
    },
  };
}
