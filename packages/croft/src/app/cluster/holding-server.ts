import type { ServerRow } from '../../core/accounts/ports/cluster-tables.ts';

/** The server that serves something: this one, another, or one that does not beat any more. */
export type Holding =
  | { readonly kind: 'here'; readonly key: string; readonly epoch: number }
  | { readonly kind: 'elsewhere'; readonly key: string; readonly epoch: number; readonly server: ServerRow }
  | { readonly kind: 'unreachable'; readonly key: string; readonly serverId: string };
