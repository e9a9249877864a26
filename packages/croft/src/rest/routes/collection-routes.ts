import { Deleted, PageQuery, RecordPatch, type RestSchema } from '@croft/protocol';
import { createIgnoredFieldsFinder } from '../../core/accounts/configs/find-ignored-fields.ts';
import type { Registry, ResourceCollection, ResourceView } from '../../core/accounts/ports/registry.ts';
import { defineRoute, type Route, type RouteAnswer } from '../platform/route.ts';

interface CollectionDeclaration {
  /** The segment of the path, and the field of the list. */
  readonly name: 'agents' | 'sandboxes' | 'workspaces';
  /** The singular with its article. */
  readonly one: 'an agent' | 'a sandbox' | 'a workspace';
  readonly id: 'agentId' | 'sandboxId' | 'workspaceId';
  /** A key that is bound to agents may read the records too. */
  readonly ofAgents?: true | undefined;
  readonly create: RestSchema;
  readonly record: RestSchema;
  readonly list: RestSchema;
  /** The answer to a create, if that is less than the whole record. */
  readonly made?: { readonly schema: RestSchema; readonly fields: readonly string[] } | undefined;
}

const storageFailures = ['E_STORAGE_FAILED', 'E_STORAGE_UNAVAILABLE'] as const;

/** Agents, sandboxes and workspaces have the same routes. */
export function collectionRoutes(declaration: CollectionDeclaration): Route[] {
  const { name, one, id, record, ofAgents, create } = declaration;
  const findIgnored = createIgnoredFieldsFinder(create);
  const path = `/${name}/{${id}}`;
  return [
    createRoute(declaration, findIgnored),
    listRoute(declaration),
    defineRoute({
      method: 'GET',
      path,
      summary: `Shows ${one}`,
      scopes: ['read'],
      ofFlags: true,
      ...(ofAgents && { ofAgents }),
      mirrored: true,
      versioned: true,
      answer: record,
      failures: ['E_NOT_FOUND'],
      handle: async ({ registry }, { actor, params }) =>
        toAnswer(declaration, await collectionOf(registry, name).get(actor, idIn(params, id))),
    }),
    defineRoute({
      method: 'PATCH',
      path,
      summary: `Changes ${one}: a deep merge, where null deletes and ******** keeps`,
      scopes: ['write'],
      mirrored: true,
      versioned: true,
      conditional: true,
      body: RecordPatch,
      answer: record,
      failures: ['E_NOT_FOUND', 'E_ALREADY_EXISTS'],
      async handle({ registry }, { actor, params, body, expect }) {
        const view = await collectionOf(registry, name).patch(actor, idIn(params, id), body, expect);
        return withIgnored(toAnswer(declaration, view), findIgnored(body));
      },
    }),
    removeRoute(declaration),
  ];
}

function createRoute(declaration: CollectionDeclaration, findIgnored: (body: unknown) => string[]): Route {
  const { name, one, create, record, made } = declaration;
  return defineRoute({
    method: 'POST',
    path: `/${name}`,
    summary: `Makes ${one}`,
    scopes: ['write'],
    mirrored: true,
    versioned: true,
    creates: true,
    body: create,
    status: 201,
    answer: made?.schema ?? record,
    failures: ['E_ALREADY_EXISTS', 'E_QUOTA'],
    async handle({ registry }, { actor, body }) {
      const answer = toAnswer(declaration, await collectionOf(registry, name).create(actor, body));
      const shown = made ? { ...answer, body: pick(answer.body as Record<string, unknown>, made.fields) } : answer;
      return withIgnored(shown, findIgnored(body));
    },
  });
}

function listRoute({ name, id, list, ofAgents }: CollectionDeclaration): Route {
  return defineRoute({
    method: 'GET',
    path: `/${name}`,
    summary: `Lists the ${name}`,
    scopes: ['read'],
    ofFlags: true,
    ...(ofAgents && { ofAgents }),
    mirrored: true,
    query: PageQuery,
    answer: list,
    async handle({ registry }, { actor, query }) {
      const { rows, next } = await collectionOf(registry, name).list(actor, query);
      return { body: { [name]: rows.map((row) => toRecord(row, id)), next } };
    },
  });
}

function removeRoute({ name, one, id }: CollectionDeclaration): Route {
  return defineRoute({
    method: 'DELETE',
    path: `/${name}/{${id}}`,
    summary: `Deletes ${one}`,
    scopes: ['write'],
    mirrored: true,
    conditional: true,
    answer: Deleted,
    // A workspace's objects in a bucket are deleted first, and the bucket may not answer.
    failures: ['E_NOT_FOUND', 'E_IN_USE', ...(name === 'workspaces' ? storageFailures : [])],
    async handle({ registry }, { actor, params, expect }) {
      await collectionOf(registry, name).remove(actor, idIn(params, id), expect);
      return { body: { deleted: true } };
    },
  });
}

function collectionOf(registry: Registry, name: CollectionDeclaration['name']): ResourceCollection<unknown> {
  return registry[name];
}

/** The path has this parameter, because the route was found by it. */
function idIn(params: unknown, id: string): string {
  return (params as Readonly<Record<string, string>>)[id] ?? '';
}

function toAnswer({ id }: CollectionDeclaration, view: ResourceView<unknown>): RouteAnswer {
  return { body: toRecord(view, id), version: view.version };
}

/** Says which fields of a request were dropped, so that a misspelt setting is noticed. */
function withIgnored(answer: RouteAnswer, ignored: readonly string[]): RouteAnswer {
  return ignored.length === 0 ? answer : { ...answer, body: { ...(answer.body as object), ignored } };
}

function toRecord({ id, ...view }: ResourceView<unknown>, idName: string): Record<string, unknown> {
  return { [idName]: id, ...view };
}

function pick(record: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(fields.flatMap((field) => (field in record ? [[field, record[field]]] : [])));
}
