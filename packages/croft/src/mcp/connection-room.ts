interface Connection {
  close(): Promise<void>;
}

export type ConnectionRoom = ReturnType<typeof createConnectionRoom>;

/** For so many connections, of however many faces: one more, and the one idle longest goes. */
export function createConnectionRoom(max: number) {
  // In order of use, so that the first is the one idle longest.
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
