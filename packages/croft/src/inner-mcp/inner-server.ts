import { AppError } from '@croft/protocol';
import { ProtocolError } from '@modelcontextprotocol/client';
import { unlessAborted } from '../lib/concurrency/unless-aborted.ts';
import { errorMessage } from '../lib/error-message.ts';
import { type Announced, listAnnounced } from './announced-tools.ts';
import { createCallQueue } from './call-queue.ts';
import { cleanText, type JsonRecord } from './clean-json.ts';
import type { ServerConnection, ServerRequestOptions } from './server-connection.ts';
import { createServerSupervisor, type ServerSupervisorOptions, serverError } from './server-supervisor.ts';

interface InnerServerOptions extends Omit<ServerSupervisorOptions, 'tell'> {
  /** The only tools of the server that may be used. Without it, all of them. */
  readonly only?: ReadonlySet<string> | undefined;
  tell(state: 'started' | 'ended' | 'failed' | 'cut', words: string): void;
}

export type InnerServer = ReturnType<typeof createInnerServer>;

const listMs = 30_000;
const maxWords = 2000;

/** One server in one sandbox: lists its tools and calls them. */
export function createInnerServer(options: InnerServerOptions) {
  const { name, only, tell } = options;
  const supervisor = createServerSupervisor(options);
  // Cached for each process: after a restart a server may have other tools.
  const announced = new WeakMap<ServerConnection, Promise<Announced>>();
  const queue = createCallQueue({ atOnce: 16, waiting: 256 });

  return {
    close: supervisor.close,

    async tools(signal: AbortSignal): Promise<Announced> {
      const connection = await supervisor.open(signal);
      const known = connection.takeStale() ? undefined : announced.get(connection);
      const asked = known ?? list(connection);
      announced.set(connection, asked);
      return unlessAborted(asked, signal);
    },

    call: (tool: string, input: JsonRecord, request: ServerRequestOptions): Promise<JsonRecord> =>
      queue(request.signal, async () => {
        const connection = await supervisor.open(request.signal);
        const result = await ask(connection, 'tools/call', { name: tool, arguments: input }, request);
        supervisor.praise();
        return result;
      }),
  };

  async function list(connection: ServerConnection): Promise<Announced> {
    const request = { signal: new AbortController().signal, timeoutMs: listMs };
    try {
      const found = await listAnnounced((params) => ask(connection, 'tools/list', params, request), only);
      if (found.notes.length > 0) tell('cut', `left out: ${found.notes.join('; ')}`);
      return found;
    } catch (thrown) {
      announced.delete(connection);
      throw thrown;
    }
  }

  async function ask(connection: ServerConnection, method: string, params: JsonRecord, request: ServerRequestOptions) {
    try {
      return await connection.request(method, params, request);
    } catch (thrown) {
      request.signal.throwIfAborted();
      throw await explain(thrown, connection);
    }
  }

  /** Explains why there is no answer: the server refused the call, or the server ended, and then how. */
  async function explain(thrown: unknown, connection: ServerConnection): Promise<AppError> {
    const words = cleanText(errorMessage(thrown), maxWords);
    if (thrown instanceof ProtocolError) return new AppError('E_MCP_TOOL', `${name} refused the call: ${words}`);
    const end = await connection.lastEnd();
    if (end === undefined) return serverError(name, `gave no valid answer: ${words}`);
    return end.lost ?? serverError(name, `ended before it answered: ${end.words}`);
  }
}
