import { AppError } from '@croft/protocol';
import { nothingStoredHint } from './nothing-stored-hint.ts';
import { withDeadline } from './with-deadline.ts';

export interface PooledConnection {
  /** Whether the connection can be used for another transaction. */
  readonly isUsable: boolean;
  /** Closes the connection at once, with everything that runs on it. */
  discard(): void;
}

interface ConnectionPoolOptions<Client extends PooledConnection> {
  readonly max: number;
  readonly deadlineMs: number;
  connect(): Promise<Client>;
}

/** A pool of connections, each used by one transaction at a time. A lost connection is replaced when one is needed. */
export function createConnectionPool<Client extends PooledConnection>({
  max,
  deadlineMs,
  connect,
}: ConnectionPoolOptions<Client>) {
  const idle: Client[] = [];
  const all = new Set<Client>();
  /** Callers that wait for a connection. `undefined` lets a caller open one of its own. */
  const waiting: ((client: Client | undefined) => void)[] = [];
  let taken = 0;

  async function take(): Promise<Client> {
    if (taken >= max) return (await waitForOne()) ?? connectOne();
    taken += 1;
    return popUsable() ?? connectOne();
  }

  async function waitForOne(): Promise<Client | undefined> {
    const { promise, resolve } = Promise.withResolvers<Client | undefined>();
    waiting.push(resolve);
    return withDeadline(deadlineMs, promise, () => {
      waiting.splice(waiting.indexOf(resolve), 1);
      throw new AppError('E_STORAGE_FAILED', 'too many requests use the records at once', { hint: nothingStoredHint });
    });
  }

  function popUsable(): Client | undefined {
    for (;;) {
      const client = idle.pop();
      if (!client || client.isUsable) return client;
      all.delete(client);
    }
  }

  async function connectOne(): Promise<Client> {
    try {
      const client = await connect();
      all.add(client);
      return client;
    } catch (thrown) {
      pass(undefined);
      throw thrown;
    }
  }

  function pass(client: Client | undefined): void {
    const next = waiting.shift();
    if (!next) taken -= 1;
    if (next) next(client);
    else if (client) idle.push(client);
  }

  return {
    take,
    give(client: Client): void {
      if (!client.isUsable) all.delete(client);
      pass(client.isUsable ? client : undefined);
    },
    end(): void {
      for (const client of all) client.discard();
    },
  };
}

export type ConnectionPool<Client extends PooledConnection> = ReturnType<typeof createConnectionPool<Client>>;
