import { BoundedMap } from '../../lib/bounded-map.ts';

interface Connection {
  close(): Promise<void>;
}

export type ConnectionLimit = ReturnType<typeof createConnectionLimit>;

/**
 * Keeps at most `max` connections, over all faces that share this limit. One more closes the connection that was idle
 * longest.
 */
export function createConnectionLimit(max: number) {
  const connections = new BoundedMap<Connection, true>(max, (_, idle) => void idle.close());
  return {
    use: (connection: Connection) => void connections.set(connection, true),
    leave: (connection: Connection): boolean => connections.delete(connection),
  };
}
