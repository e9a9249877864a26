import {
  type ErrorCode,
  FileQuery,
  FileRemoved,
  FileRemoveQuery,
  FileTree,
  FileWritten,
  FileZipQuery,
  restSchemas,
} from '@croft/protocol';
import { type Json, toAnswer, toFailures } from './responses.ts';

const refusals: readonly ErrorCode[] = ['E_FORBIDDEN', 'E_RATE_LIMITED', 'E_STOPPING', 'E_INTERNAL'];
const bytes = (type = 'application/octet-stream') => ({ [type]: { schema: { type: 'string', format: 'binary' } } });
const token = [{ token: [] }];
const workspace = { name: 'workspace', in: 'query', required: false, schema: { type: 'string' } };

/**
 * Addresses that are not declared as routes: file links, which need no key, and `/api`, which needs the server's token.
 */
export const undeclaredPaths: Json = {
  '/v1/links/{token}': {
    parameters: [{ name: 'token', in: 'path', required: true, schema: { type: 'string' } }],
    get: toLink('Gets the file of a link', { 200: toBytes(), ...toFailures(['E_NOT_FOUND', 'E_RANGE', ...refusals]) }),
    put: {
      ...toLink('Puts the file of a link', {
        ...{ 200: toAnswer(FileWritten), 201: toAnswer(FileWritten) },
        ...toFailures(['E_NOT_FOUND', 'E_TOO_LARGE', 'E_PRECONDITION_FAILED', 'E_QUOTA', ...refusals]),
      }),
      requestBody: { content: bytes() },
    },
  },
  '/v1/downloads/{token}': {
    parameters: [{ name: 'token', in: 'path', required: true, schema: { type: 'string' } }],
    get: toLink('Gets the file of a link', { 200: toBytes(), ...toFailures(['E_NOT_FOUND', ...refusals]) }),
  },
  '/api/tree': { get: toFlag('The files of a workspace given by a flag', [], toAnswer(FileTree)) },
  '/api/file': {
    get: toFlag('Gets a file', toParameters(FileQuery), toBytes()),
    put: {
      ...toFlag('Puts a file', toParameters(FileQuery), toAnswer(FileWritten)),
      requestBody: { content: bytes() },
    },
    delete: toFlag('Deletes a file or, with recursive, a folder', toParameters(FileRemoveQuery), toAnswer(FileRemoved)),
  },
  '/api/download': { get: toFlag('A zip of it', toParameters(FileZipQuery), toBytes('application/zip')) },
  '/api/events': { get: toFlag('What changes, as server-sent events', [], toBytes('text/event-stream')) },
};

function toLink(summary: string, responses: Json): Json {
  return { summary, security: [], responses };
}

function toFlag(summary: string, parameters: readonly Json[], answer: Json): Json {
  const failures: readonly ErrorCode[] = ['E_UNAUTHORIZED', 'E_UNKNOWN_WORKSPACE', 'E_INVALID_PATH', ...refusals];
  return {
    summary,
    security: token,
    parameters: [workspace, ...parameters],
    responses: { 200: answer, ...toFailures(failures) },
  };
}

function toParameters(query: Parameters<typeof restSchemas.toParameters>[0]): Json[] {
  return restSchemas.toParameters(query).map((parameter) => ({ ...parameter, in: 'query' }));
}

function toBytes(type?: string): Json {
  return { description: 'As asked', content: bytes(type) };
}
