import type { ServerRow } from '../../core/accounts/ports/cluster-tables.ts';

/** The server that serves an agent or a workspace: this one, another one, or one that stores no beats any more. */
export type Holding =
  | { readonly kind: 'here'; readonly key: string; readonly epoch: number }
  | { readonly kind: 'elsewhere'; readonly key: string; readonly epoch: number; readonly server: ServerRow }
  | { readonly kind: 'unreachable'; readonly key: string; readonly serverId: string };
