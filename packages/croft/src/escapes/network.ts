import type { Escape } from './escape.ts';
import { networkClosed } from './network-closed.ts';
import { networkRequests } from './network-requests.ts';
import { networkRestricted } from './network-restricted.ts';

/** E: the network, as commands reach it. */
export const network: readonly Escape[] = [...networkClosed, ...networkRestricted, ...networkRequests].sort(
  (one, other) => one.id.localeCompare(other.id, 'en', { numeric: true }),
);
