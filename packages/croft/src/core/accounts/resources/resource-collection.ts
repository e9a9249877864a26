import { newId } from '../../../lib/ids.ts';
import { reachesAgent } from '../access/key-reach.ts';
import { changedMeanwhile } from '../access/registry-errors.ts';
import type { ResourceCollection } from '../ports/registry.ts';
import type { RegistryContext } from '../ports/registry-context.ts';
import { maskedView, parseCreation, parsePatch } from './resource-body.ts';
import { createResourceChanges } from './resource-changes.ts';
import type { ResourceKind } from './resource-kind.ts';

const maxAttempts = 8;

export function createResourceCollection<Config>(
  context: RegistryContext,
  kind: ResourceKind<Config>,
): ResourceCollection<Config> {
  const { records, now } = context;
  const changes = createResourceChanges(context, kind);

  return {
    kind: kind.kind,

    async create(actor, body) {
      const given = parseCreation(body, kind.parse);
      const [id, at] = [newId(kind.prefix), now().toISOString()];
      const view = { accountId: actor.accountId, id, ...given, createdAt: at, updatedAt: at, version: 1 };
      await records.change((tables) => changes.insert(tables, actor, { ...view, ...kind.added }));
      return maskedView(view);
    },

    async get(actor, id) {
      return maskedView(await records.read((tables) => changes.mustFind(tables, actor, id)));
    },

    async list(actor, page) {
      const { rows, ...rest } = await records.read((tables) => tables[kind.table].list(actor.accountId, page));
      const seen = rows.filter(({ id }) => reachesAgent(actor, id));
      return { ...rest, rows: seen.map((row) => maskedView(kind.rows.open(row))) };
    },

    async patch(actor, id, body, expect) {
      const given = parsePatch(body, kind.respell);
      for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
        const view = await records.change((tables) => changes.patch(tables, actor, id, given, expect));
        if (view) return maskedView(view);
        if (expect.version !== undefined) break;
      }
      throw changedMeanwhile(kind.title);
    },

    mustBeRemovable: (actor, id, expect) =>
      records.read((tables) => changes.mustBeRemovable(tables, actor, id, expect)),
    remove: (actor, id, expect) => records.change((tables) => changes.remove(tables, actor, id, expect)),
    open: (accountId, id) => records.read((tables) => changes.find(tables, accountId, id)),
  };
}
