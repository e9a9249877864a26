import { AppError } from '@croft/protocol';
import { agentRoutes } from './fake-agent-routes.ts';
import type { FakeCommands } from './fake-commands.ts';
import { fileRoutes } from './fake-file-routes.ts';
import { historyRoutes } from './fake-history-routes.ts';
import { recordRoutes } from './fake-record-routes.ts';
import type { FakeRequest } from './fake-routes.ts';
import type { FakeState } from './fake-state.ts';

const routes = [...recordRoutes, ...fileRoutes, ...historyRoutes, ...agentRoutes];

/** A `fetch` that answers as a server does, with nothing behind it but memory. */
export function createFakeFetch(state: FakeState, commands: FakeCommands): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    try {
      return toResponse(await orAborted(answer(request, state, commands), request.signal));
    } catch (thrown) {
      if (request.signal.aborted) throw request.signal.reason;
      const error = AppError.from(thrown);
      return Response.json({ error }, { status: error.traits.status });
    }
  };
}

async function answer(request: Request, state: FakeState, commands: FakeCommands): Promise<unknown> {
  const url = new URL(request.url);
  for (const { method, pattern, handle } of routes) {
    const found = method === request.method ? pattern.exec({ pathname: url.pathname }) : null;
    if (!found) continue;
    const { headers, signal } = request;
    const asked: FakeRequest = {
      ...{ state, commands, headers, signal, query: url.searchParams, params: decodeAll(found.pathname.groups) },
      json: async () => Object(JSON.parse((await request.text()) || '{}')),
      bytes: async () => new Uint8Array(await request.arrayBuffer()),
    };
    return handle(asked);
  }
  throw new AppError('E_NOT_FOUND', `the fake server does not implement ${request.method} ${url.pathname}`, {
    hint: 'Use a real server for this test.',
  });
}

function decodeAll(groups: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, value]) => [name, decodeURIComponent(value ?? '')]));
}

function toResponse(value: unknown): Response {
  return value instanceof Response ? value : Response.json(value);
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
