import { Health, Readiness, Ready, type RestSchema, restSchemas } from '@croft/protocol';
import { version } from '../../version.ts';
import { endpoints, type RestEndpoint } from '../dispatch/match-path.ts';
import { toOperation } from './operation.ts';
import { type Json, toAnswer, toFailures } from './responses.ts';
import { undeclaredPaths } from './undeclared-paths.ts';

/** Describes everything that `croft serve` answers, from the same declarations that the server uses. */
export function toOpenApi(): Json {
  return {
    openapi: '3.1.0',
    info: { title: 'Croft', version, license: { name: 'Apache-2.0' } },
    security: [{ key: [] }],
    paths: {
      ...openPaths,
      ...mcpPath,
      ...undeclaredPaths,
      ...Object.fromEntries(endpoints.map((endpoint) => [endpoint.pattern, toPath(endpoint)])),
    },
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'The token of the server, for /mcp and /api' },
        key: { type: 'http', scheme: 'bearer', description: 'A key of an account' },
        admin: { type: 'http', scheme: 'bearer', description: 'The admin token' },
      },
      schemas: restSchemas.toComponents(),
    },
  };
}

const openPaths = {
  '/': { get: toOpen('Whether the server answers', Ready) },
  '/healthz': { get: toOpen('Whether the server answers, and which version of it', Health) },
  '/readyz': {
    get: {
      ...toOpen('Whether everything that the server needs works, with a reason for each that does not', Readiness),
      responses: {
        200: toAnswer(Readiness),
        503: { ...toAnswer(Readiness), description: 'Something does not work, or the server is stopping' },
        ...toFailures(['E_FORBIDDEN']),
      },
    },
  },
  '/openapi.json': {
    get: { summary: 'This document', security: [], responses: { 200: { description: 'OpenAPI 3.1' } } },
  },
};

const mcpPath = {
  '/mcp': {
    post: {
      ...toMcp('MCP over streamable HTTP, protocol 2025-11-25 and earlier, and 2026-07-28', 'A JSON-RPC answer'),
      requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
    },
    get: toMcp('The event stream of a 2025 session', 'A stream of events'),
    delete: toMcp('Ends a 2025 session', 'It has ended'),
  },
};

function toOpen(summary: string, schema: RestSchema): Json {
  return { summary, security: [], responses: { 200: toAnswer(schema), ...toFailures(['E_FORBIDDEN']) } };
}

function toMcp(summary: string, description: string): Json {
  const failures = toFailures(['E_UNAUTHORIZED', 'E_FORBIDDEN', 'E_TOO_LARGE', 'E_RATE_LIMITED', 'E_STOPPING']);
  return { summary, security: [{ token: [] }], responses: { 200: { description }, ...failures } };
}

function toPath({ pattern, audience, routes }: RestEndpoint): Json {
  const parameters = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  const operations = Object.entries(routes).map(([method, route]) => [
    method.toLowerCase(),
    toOperation(pattern, audience, route),
  ]);
  return { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(operations) };
}
