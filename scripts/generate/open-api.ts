import { ErrorEnvelope, Health } from '@croft/protocol';
import { z } from 'zod';
import { version } from '../../packages/croft/src/version.ts';

/** The routes of `croft serve`, from the same schemas the server answers with. */
export function toOpenApi() {
  return {
    openapi: '3.1.0',
    info: { title: 'Croft', version, license: { name: 'Apache-2.0' } },
    security: [{ token: [] }],
    paths: {
      '/healthz': {
        get: {
          summary: 'Whether the server answers',
          security: [],
          responses: { 200: answer('It does', Health), 403: failure('Called by a foreign name or page') },
        },
      },
      '/mcp': {
        post: {
          summary: 'MCP over streamable HTTP, protocol 2025-11-25 and earlier, and 2026-07-28',
          requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
          responses: { 200: { description: 'A JSON-RPC answer, or a stream of events that ends in it' }, ...failures },
        },
        get: {
          summary: 'The event stream of a 2025 session',
          responses: { 200: { description: 'A stream of events' }, ...failures },
        },
        delete: { summary: 'Ends a 2025 session', responses: { 200: { description: 'It has ended' }, ...failures } },
      },
    },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Error: toSchema(ErrorEnvelope) },
    },
  };
}

const failures = {
  401: failure('The token is missing or wrong'),
  403: failure('Called by a foreign name or page'),
  413: failure('The body is too large'),
  503: failure('The server is stopping'),
};

function answer(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema: toSchema(schema) } } };
}

function failure(description: string) {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function toSchema(schema: z.ZodType) {
  const { $schema: _, ...body } = z.toJSONSchema(schema);
  return body;
}
