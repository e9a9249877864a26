import { AppError } from '@croft/protocol';
import { within } from './within.ts';

export interface Pooled {
  /** Whether it can be used for another transaction. */
  readonly isUsable: boolean;
  /** Ends the connection at once, and with it whatever is under way on it. */
  discard(): void;
}

export interface PoolOptions<Client extends Pooled> {
  readonly max: number;
  readonly deadlineMs: number;
  connect(): Promise<Client>;
}

/** Connections, each for one transaction at a time. One that was lost is replaced when it is needed. */
export function createPool<Client extends Pooled>({ max, deadlineMs, connect }: PoolOptions<Client>) {
  const idle: Client[] = [];
  const all = new Set<Client>();
  /** Given `undefined`, one may make one of its own. */
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
    return within(deadlineMs, promise, () => {
      waiting.splice(waiting.indexOf(resolve), 1);
      throw new AppError('E_STORAGE_FAILED', 'too many use the records at once; try again in a moment');
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

export type Pool<Client extends Pooled> = ReturnType<typeof createPool<Client>>;
