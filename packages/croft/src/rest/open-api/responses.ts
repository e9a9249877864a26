import { type ErrorCode, errorCatalog, type RestSchema, restSchemas } from '@croft/protocol';

export type Json = Record<string, unknown>;

export function toJsonContent(schema: RestSchema): Json {
  return { 'application/json': { schema: restSchemas.reference(schema) } };
}

export function toAnswer(schema: RestSchema, headers: Json = {}): Json {
  const described = Object.keys(headers).length > 0 ? { headers } : {};
  return { description: 'As asked', ...described, content: toJsonContent(schema) };
}

/** One response for each status, with the error codes that have it. */
export function toFailures(codes: readonly ErrorCode[]): Json {
  const byStatus = Object.groupBy(new Set(codes), (code) => errorCatalog[code].status);
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, same = []]) => [
      status,
      { description: same.join(', '), content: { 'application/json': { schema: errorReference } } },
    ]),
  );
}

const errorReference = { $ref: '#/components/schemas/Error' };
