import { newId } from '../../lib/ids.ts';
import { createCollectionChanges } from './collection-changes.ts';
import type { RegistryContext } from './context.ts';
import type { Kind } from './kind.ts';
import { parseCreation, parsePatch, show } from './record-body.ts';
import { stale } from './refusals.ts';
import type { Collection } from './registry.ts';

const maxAttempts = 8;

export function createCollection<Config>(context: RegistryContext, kind: Kind<Config>): Collection<Config> {
  const { records, now } = context;
  const changes = createCollectionChanges(context, kind);

  return {
    kind: kind.kind,

    async create(actor, body) {
      const given = parseCreation(body, kind.parse);
      const [id, at] = [newId(kind.prefix), now().toISOString()];
      const view = { accountId: actor.accountId, id, ...given, createdAt: at, updatedAt: at, version: 1 };
      await records.change((tables) => changes.insert(tables, actor, view));
      return show(view);
    },

    async get(actor, id) {
      return show(await records.read((tables) => changes.mustFind(tables, actor, id)));
    },

    async list({ accountId }, page) {
      const { rows, ...rest } = await records.read((tables) => tables[kind.table].list(accountId, page));
      return { ...rest, rows: rows.map((row) => show(kind.rows.open(row))) };
    },

    async patch(actor, id, body, expect) {
      const given = parsePatch(body, kind.respell);
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const view = await records.change((tables) => changes.patch(tables, actor, id, given, expect));
        if (view) return show(view);
        if (expect.version !== undefined) break;
      }
      throw stale(kind.title);
    },

    remove: (actor, id, expect) => records.change((tables) => changes.remove(tables, actor, id, expect)),
    open: (accountId, id) => records.read((tables) => changes.find(tables, accountId, id)),
  };
}
