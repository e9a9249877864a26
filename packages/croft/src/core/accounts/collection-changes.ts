import { isId } from '../../lib/ids.ts';
import { mustBeActive } from './account-checks.ts';
import { changedKeys, note } from './audit-log.ts';
import type { RegistryContext } from './context.ts';
import type { Kind } from './kind.ts';
import { comparable, type GivenPatch, patched } from './record-body.ts';
import type { Tables } from './records.ts';
import { alreadyExists, mustFitVersion, notFound, overQuota } from './refusals.ts';
import type { Actor, Expectation, ResourceView } from './registry.ts';

/** What is done to the records of a kind, each within one transaction and with its audit row. */
export function createCollectionChanges<Config>({ now, quotas }: RegistryContext, kind: Kind<Config>) {
  type View = ResourceView<Config>;
  const { rows, table, title } = kind;

  const tell = (tables: Tables, { accountId, label }: Actor, what: string, { id, name }: View, more: object = {}) =>
    note(tables, {
      accountId,
      at: now(),
      actor: label,
      action: `${kind.kind}.${what}`,
      target: id,
      details: { name, ...more },
    });

  /** What is no id is not looked up: not every store can hold every text. */
  async function find(tables: Tables, accountId: string, id: string): Promise<View | undefined> {
    return isId(kind.prefix, id) ? rows.find(tables, accountId, id) : undefined;
  }

  async function mustFind(tables: Tables, { accountId }: Actor, id: string): Promise<View> {
    const found = await find(tables, accountId, id);
    if (found) return found;
    throw notFound(title);
  }

  async function mustHaveNameFree(tables: Tables, { accountId, id, name }: View): Promise<void> {
    const holder = await tables[table].byName(accountId, name);
    if (holder && holder.id !== id) throw alreadyExists(title, name, holder.id);
  }

  async function insert(tables: Tables, actor: Actor, view: View): Promise<void> {
    await mustBeActive(tables, view.accountId);
    await mustHaveNameFree(tables, view);
    if ((await tables[table].count(view.accountId)) >= quotas[table]) throw overQuota(table, quotas[table]);
    await tables[table].insert(rows.seal(view));
    await kind.onWritten(tables, view);
    await tell(tables, actor, 'created', view, { changed: changedKeys({ config: {} }, { config: view.config }) });
  }

  /** `undefined`, with nothing done, when somebody else was faster. */
  async function patch(tables: Tables, actor: Actor, id: string, given: GivenPatch, expect: Expectation) {
    const before = await mustFind(tables, actor, id);
    mustFitVersion(title, before.version, expect);
    const after = patched(before, given, kind.parse, now());
    const changed = changedKeys(comparable(before), comparable(after));
    if (changed.length === 0) return before;
    await mustHaveNameFree(tables, after);
    if (!(await tables[table].update(rows.seal(after)))) return undefined;
    await kind.onWritten(tables, after);
    await tell(tables, actor, 'changed', after, { changed });
    return after;
  }

  async function remove(tables: Tables, actor: Actor, id: string, expect: Expectation): Promise<void> {
    const view = await mustFind(tables, actor, id);
    mustFitVersion(title, view.version, expect);
    await kind.onRemove(tables, view);
    await tables[table].remove(actor.accountId, id);
    await tell(tables, actor, 'removed', view);
  }

  return { find, mustFind, insert, patch, remove };
}
