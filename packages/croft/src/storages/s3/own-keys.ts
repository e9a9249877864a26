import { AppError } from '@croft/protocol';
import type { ObjectStore } from '../../core/objects.ts';
import { storePrefix } from './store-keys.ts';

/** The objects of one workspace, its history with them, and no others: whatever else is asked for is `E_FORBIDDEN`. */
export function keepToOwnKeys(objects: ObjectStore, namespace: string): ObjectStore {
  const prefixes = [`${namespace}/`, storePrefix(namespace)];

  /** Not every service takes a key for what it is: one that keeps files would follow `..` to its neighbours. */
  function own(key: string): string {
    const isOwn = prefixes.some((prefix) => key.startsWith(prefix));
    if (isOwn && !key.split('/').some((name) => name === '.' || name === '..')) return key;
    throw new AppError('E_FORBIDDEN', 'that is no object of this workspace');
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
