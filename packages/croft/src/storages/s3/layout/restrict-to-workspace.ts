import { AppError } from '@croft/protocol';
import type { ObjectStore } from '../../../core/storage/object-store.ts';
import { historyPrefix } from './history-keys.ts';

/**
 * Restricts an object store to the files and the history of one workspace. Any other key is `E_FORBIDDEN`. Used for
 * buckets that a runner reaches through the server.
 */
export function restrictToWorkspace(objects: ObjectStore, namespace: string): ObjectStore {
  const prefixes = [`${namespace}/`, historyPrefix(namespace)];

  /** Rejects `.` and `..`: a service that stores objects as files would follow `..` to a neighbour's objects. */
  function own(key: string): string {
    const isOwn = prefixes.some((prefix) => key.startsWith(prefix));
    if (isOwn && !key.split('/').some((name) => name === '.' || name === '..')) return key;
    throw new AppError('E_FORBIDDEN', 'the object does not belong to this workspace');
  }

  return {
    get: async (key, options) => objects.get(own(key), options),
    head: async (key, signal) => objects.head(own(key), signal),
    put: async (key, body, options) => objects.put(own(key), body, options),
    remove: async (keys, signal) => objects.remove(keys.map(own), signal),
    copy: async (from, to, signal) => objects.copy(own(from), own(to), signal),
    list: (prefix, options) => objects.list(own(prefix), options),
    probe: objects.probe,
    close: objects.close,
  };
}
