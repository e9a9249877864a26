interface Connection {
  close(): Promise<void>;
}

export type ConnectionLimit = ReturnType<typeof createConnectionLimit>;

/**
 * Keeps at most `max` connections, over all faces that share this limit. One more closes the connection that was idle
 * longest.
 */
export function createConnectionLimit(max: number) {
  // In order of use: the first was idle longest.
  const connections = new Set<Connection>();

  return {
    use(connection: Connection): void {
      connections.delete(connection);
      connections.add(connection);
      if (connections.size <= max) return;
      for (const oldest of connections) {
        connections.delete(oldest);
        void oldest.close();
        return;
      }
    },
    leave: (connection: Connection): boolean => connections.delete(connection),
  };
}
