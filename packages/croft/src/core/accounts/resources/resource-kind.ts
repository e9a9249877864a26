import type { IdPrefix } from '../../../lib/ids.ts';
import type { ReadonlyJsonObject } from '../configs/check-json.ts';
import type { Tables } from '../ports/records.ts';
import type { ResourceCollection, ResourceView } from '../ports/registry.ts';
import type { ResourceTableName, SealedRows } from '../sealing/sealed-rows.ts';

/** The differences between agents, sandboxes and workspaces. */
export interface ResourceKind<Config> {
  readonly kind: ResourceCollection<Config>['kind'];
  /** First word of messages: `Sandbox not found`. */
  readonly title: string;
  readonly prefix: IdPrefix;
  readonly table: ResourceTableName;
  readonly rows: SealedRows<Config>;
  /** Fields that the server adds to each new record. */
  readonly added?: Pick<ResourceView<Config>, 'directory'> | undefined;
  parse(config: unknown): Config;
  /** Rewrites older spellings of a patch into the current one. */
  respell(patch: ReadonlyJsonObject): ReadonlyJsonObject;
  /** Checks a record against the others after it was written. If this throws, the write is undone. */
  onWritten(tables: Tables, view: ResourceView<Config>): Promise<void>;
  /** Throws if the record may not be removed. Changes nothing. */
  mustBeRemovable(tables: Tables, view: ResourceView<Config>): Promise<void>;
  /** Called in the transaction that removes the record. */
  onRemove(tables: Tables, view: ResourceView<Config>): Promise<void>;
}
