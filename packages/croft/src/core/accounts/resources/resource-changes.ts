import { isId } from '../../../lib/ids.ts';
import { reachesAgent } from '../access/key-reach.ts';
import { mustBeActiveAccount } from '../access/must-be-active-account.ts';
import { alreadyExists, mustHaveVersion, notFound, overQuota } from '../access/registry-errors.ts';
import { appendAudit, changedKeys } from '../audit/audit-log.ts';
import type { Tables } from '../ports/records.ts';
import type { Actor, ExpectedVersion, ResourceView } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { applyPatch, comparable, type GivenPatch } from './resource-body.ts';
import type { ResourceKind } from './resource-kind.ts';

/** The changes of records of one kind. Each runs within one transaction and writes its audit row. */
export function createResourceChanges<Config>({ now, quotas }: RegistryContext, kind: ResourceKind<Config>) {
  type View = ResourceView<Config>;
  const { rows, table, title } = kind;

  const tell = (tables: Tables, { accountId, label }: Actor, what: string, { id, name }: View, more: object = {}) =>
    appendAudit(tables, {
      accountId,
      at: now(),
      actor: label,
      action: `${kind.kind}.${what}`,
      target: id,
      details: { name, ...more },
    });

  /** Looks up valid ids only: not every database accepts every text. */
  async function find(tables: Tables, accountId: string, id: string): Promise<View | undefined> {
    return isId(kind.prefix, id) ? rows.find(tables, accountId, id) : undefined;
  }

  async function mustFind(tables: Tables, actor: Actor, id: string): Promise<View> {
    const found = reachesAgent(actor, id) && (await find(tables, actor.accountId, id));
    if (found) return found;
    throw notFound(title);
  }

  async function mustHaveNameFree(tables: Tables, { accountId, id, name }: View): Promise<void> {
    const holder = await tables[table].byName(accountId, name);
    if (holder && holder.id !== id) throw alreadyExists(title, name, holder.id);
  }

  async function insert(tables: Tables, actor: Actor, view: View): Promise<void> {
    await mustBeActiveAccount(tables, view.accountId);
    await mustHaveNameFree(tables, view);
    if ((await tables[table].count(view.accountId)) >= quotas[table]) throw overQuota(table, quotas[table]);
    await tables[table].insert(rows.seal(view));
    await kind.onWritten(tables, view);
    await tell(tables, actor, 'created', view, { changed: changedKeys({ config: {} }, { config: view.config }) });
  }

  /** Returns `undefined`, and changes nothing, when another change came first. */
  async function patch(tables: Tables, actor: Actor, id: string, given: GivenPatch, expect: ExpectedVersion) {
    const before = await mustFind(tables, actor, id);
    mustHaveVersion(title, before.version, expect);
    const after = applyPatch(before, given, kind.parse, now());
    const changed = changedKeys(comparable(before), comparable(after));
    if (changed.length === 0) return before;
    await mustHaveNameFree(tables, after);
    if (!(await tables[table].update(rows.seal(after)))) return undefined;
    await kind.onWritten(tables, after);
    await tell(tables, actor, 'changed', after, { changed });
    return after;
  }

  async function mustBeRemovable(tables: Tables, actor: Actor, id: string, expect: ExpectedVersion): Promise<View> {
    const view = await mustFind(tables, actor, id);
    mustHaveVersion(title, view.version, expect);
    await kind.mustBeRemovable(tables, view);
    return view;
  }

  async function remove(tables: Tables, actor: Actor, id: string, expect: ExpectedVersion): Promise<void> {
    const view = await mustBeRemovable(tables, actor, id, expect);
    await kind.onRemove(tables, view);
    await tables[table].remove(actor.accountId, id);
    await tell(tables, actor, 'removed', view);
  }

  return { find, mustFind, insert, patch, mustBeRemovable, remove };
}
