import type { IdPrefix } from '../../lib/ids.ts';
import type { JsonObject } from './plain-json.ts';
import type { Tables } from './records.ts';
import type { Collection, ResourceView } from './registry.ts';
import type { ResourceTableName, SealedRows } from './sealed-rows.ts';

/** What tells agents, sandboxes and workspaces apart. */
export interface Kind<Config> {
  readonly kind: Collection<Config>['kind'];
  /** As messages begin: `Sandbox not found`. */
  readonly title: string;
  readonly prefix: IdPrefix;
  readonly table: ResourceTableName;
  readonly rows: SealedRows<Config>;
  parse(config: unknown): Config;
  /** Older spellings of a patch become newer ones. */
  respell(patch: JsonObject): JsonObject;
  /** Judges a record among the others, after it was written: what it throws undoes that. */
  onWritten(tables: Tables, view: ResourceView<Config>): Promise<void>;
  /** Judges whether it may go, and notes what is to be done then. */
  onRemove(tables: Tables, view: ResourceView<Config>): Promise<void>;
}
