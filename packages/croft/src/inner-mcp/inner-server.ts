import { AppError } from '@croft/protocol';
import { ProtocolError } from '@modelcontextprotocol/client';
import { type Announced, listAnnounced } from './announced-tools.ts';
import { cleanText, type JsonObject } from './clean.ts';
import type { Connection, RequestOptions } from './connection.ts';
import { createKeeper, type KeeperOptions, serverError, unlessAborted } from './keeper.ts';
import { createQueue } from './queue.ts';

export interface InnerServerOptions extends Omit<KeeperOptions, 'tell'> {
  /** The only tools of it that there are. Left out: all. */
  readonly only?: ReadonlySet<string> | undefined;
  tell(state: 'started' | 'ended' | 'failed' | 'cut', words: string): void;
}

export type InnerServer = ReturnType<typeof createInnerServer>;

const listMs = 30_000;
const maxWords = 2000;

/** One server in one sandbox: its tools, and calls of them. */
export function createInnerServer(options: InnerServerOptions) {
  const { name, only, tell } = options;
  const keeper = createKeeper(options);
  // Of each process its own: the next one may have others.
  const announced = new WeakMap<Connection, Promise<Announced>>();
  const queue = createQueue({ atOnce: 16, waiting: 256 });

  return {
    close: keeper.close,

    async tools(signal: AbortSignal): Promise<Announced> {
      const connection = await keeper.open(signal);
      const known = connection.takeStale() ? undefined : announced.get(connection);
      const asked = known ?? list(connection);
      announced.set(connection, asked);
      return unlessAborted(asked, signal);
    },

    call: (tool: string, input: JsonObject, request: RequestOptions): Promise<JsonObject> =>
      queue(request.signal, async () => {
        const connection = await keeper.open(request.signal);
        const result = await ask(connection, 'tools/call', { name: tool, arguments: input }, request);
        keeper.praise();
        return result;
      }),
  };

  async function list(connection: Connection): Promise<Announced> {
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

  async function ask(connection: Connection, method: string, params: JsonObject, request: RequestOptions) {
    try {
      return await connection.request(method, params, request);
    } catch (thrown) {
      request.signal.throwIfAborted();
      throw await explain(thrown, connection);
    }
  }

  /** Why there is no answer: the server said no, or it is gone, and then how it went. */
  async function explain(thrown: unknown, connection: Connection): Promise<AppError> {
    const words = cleanText(thrown instanceof Error ? thrown.message : String(thrown), maxWords);
    if (thrown instanceof ProtocolError) return new AppError('E_MCP_TOOL', `${name} refused the call: ${words}`);
    const end = await connection.lastEnd();
    if (end === undefined) return serverError(name, `did not answer as a server does: ${words}`);
    return end.lost ?? serverError(name, `ended before it answered: ${end.words}`);
  }
}
