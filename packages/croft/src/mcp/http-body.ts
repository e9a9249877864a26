import { isInitializeRequest } from '@modelcontextprotocol/server';

interface Read {
  readonly request: Request;
  readonly parsedBody?: unknown;
}

/** A copy of a request to read costs more than reading it: whoever needs the body again gets a new one. */
export async function readJson(request: Request): Promise<Read> {
  if (request.method !== 'POST') return { request };
  const body = await request.text().catch(() => '');
  try {
    return { request, parsedBody: JSON.parse(body) };
  } catch {
    // Not JSON: whoever serves it says so in the protocol's own words.
    const { url, method, headers, signal } = request;
    return { request: new Request(url, { method, headers, body, signal }) };
  }
}

export function isHandshake(body: unknown): boolean {
  return isInitializeRequest(body) || (Array.isArray(body) && body.some(isInitializeRequest));
}
