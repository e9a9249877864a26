import { isInitializeRequest } from '@modelcontextprotocol/server';

const discover = 'server/discover';

interface Read {
  readonly request: Request;
  readonly parsedBody?: unknown;
}

/**
 * Reads the body of the request itself, because cloning a request costs more than reading it. A body that is not JSON
 * is put into a new request.
 */
export async function readJson(request: Request): Promise<Read> {
  if (request.method !== 'POST') return { request };
  const body = await request.text().catch(() => '');
  try {
    return { request, parsedBody: JSON.parse(body) };
  } catch {
    // The protocol layer answers a body that is not JSON.
    const { url, method, headers, signal } = request;
    return { request: new Request(url, { method, headers, body, signal }) };
  }
}

export function isHandshake(body: unknown): boolean {
  return isInitializeRequest(body) || (Array.isArray(body) && body.some(isInitializeRequest));
}

/** Only the first request of either protocol asks for instructions, and making them reads files. */
export function asksForInstructions(body: unknown): boolean {
  return (
    isHandshake(body) || (typeof body === 'object' && body !== null && 'method' in body && body.method === discover)
  );
}
