import { type ErrorCode, type RestSchema, restSchemas } from '@croft/protocol';
import type { Audience, HttpMethod, Route } from '../platform/route.ts';
import { type Json, toAnswer, toFailures, toJsonContent } from './responses.ts';

export function toOperation(pattern: string, audience: Audience, route: Route): Json {
  const { method, summary, scopes, query, body, bodyType, status = 200 } = route;
  const parameters = [...(query ? toQueryParameters(query) : []), ...toHeaderParameters(route)];
  const needs = audience === 'admin' ? 'Needs the admin token.' : `Needs a key of scope ${scopes.join(' or ')}.`;
  return {
    operationId: toOperationId(method, pattern),
    summary,
    description: needs,
    security: [{ [audience === 'admin' ? 'admin' : 'key']: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { content: toJsonContent(body) } }),
    ...(bodyType && { requestBody: { content: toBytes(bodyType) } }),
    responses: {
      [status]: toMainAnswer(route),
      ...Object.fromEntries(Object.entries(route.alsoAnswers ?? {}).map(([code, also]) => [code, toAnswer(also)])),
      ...toFailures(failuresOf(route)),
    },
  };
}

/** `GET /v1/sandboxes/{sandboxId}` becomes `getV1SandboxesSandboxId`. */
function toOperationId(method: HttpMethod, pattern: string): string {
  const words = pattern.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function toMainAnswer({ answer, answerType, followed, versioned, creates }: Route): Json {
  if (answerType) return { description: 'As asked', content: toBytes(answerType) };
  if (!answer) return { description: 'What the protocol says' };
  const whole = toAnswer(answer, {
    ...(versioned && { ETag: text('The version of the record') }),
    ...(creates && { 'Idempotent-Replay': text('true, when this is the answer to an earlier request') }),
  });
  return followed ? { ...whole, content: { ...toJsonContent(answer), ...toEvents(followed) } } : whole;
}

function toEvents(schema: RestSchema): Json {
  return { 'text/event-stream': { schema: restSchemas.reference(schema) } };
}

function toBytes(type: string): Json {
  return { [type]: { schema: { type: 'string', format: 'binary' } } };
}

function toQueryParameters(query: RestSchema): Json[] {
  return restSchemas.toParameters(query).map((parameter) => ({ ...parameter, in: 'query' }));
}

function toHeaderParameters({ headers = {}, creates, conditional }: Route): Json[] {
  const all = {
    ...headers,
    ...(creates && { 'Idempotency-Key': 'The same key within a day gets the first answer again' }),
    ...(conditional && { 'If-Match': 'The ETag of the record as last seen, or *' }),
  };
  return Object.entries(all).map(([name, description]) => ({ name, in: 'header', ...text(description) }));
}

function failuresOf({ body, query, creates, conditional, failures = [] }: Route): ErrorCode[] {
  const always: ErrorCode[] = ['E_UNAUTHORIZED', 'E_FORBIDDEN', 'E_RATE_LIMITED', 'E_STOPPING', 'E_INTERNAL'];
  return [
    ...(body || query || creates || conditional ? (['E_INVALID_INPUT'] as const) : []),
    ...(body ? (['E_TOO_LARGE'] as const) : []),
    ...(creates ? (['E_IDEMPOTENCY_CONFLICT'] as const) : []),
    ...(conditional ? (['E_PRECONDITION_FAILED'] as const) : []),
    ...failures,
    ...always,
  ];
}

function text(description: string): Json {
  return { description, schema: { type: 'string' } };
}
