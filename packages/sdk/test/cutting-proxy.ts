import { createConnection, createServer, type Socket } from 'node:net';

/** A proxy that passes requests on and cuts the connection instead of answering some of them. */
export async function startCuttingProxy(target: string) {
  const { port, hostname } = new URL(target);
  const open = new Set<Socket>();
  let [method, left, cuts] = ['', 0, 0];
  const server = createServer((client) => {
    const upstream = createConnection(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket
        .on('error', () => {})
        .on('close', () => {
          open.delete(socket);
          client.destroy();
          upstream.destroy();
        });
    }
    let isToCut = false;
    client.on('data', (bytes) => {
      const [, asked] = /^([A-Z]+) \/\S+ HTTP/.exec(bytes.toString('latin1')) ?? [];
      if (asked === method && left > 0) {
        left -= 1;
        isToCut = true;
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (!isToCut) return client.write(bytes);
      cuts += 1;
      return client.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen');
  return {
    url: `http://127.0.0.1:${address.port}`,
    /** The server gets this many requests of a method, and the client no answer to them. */
    cutAnswers(of: string, count: number): void {
      [method, left] = [of, count];
    },
    cutAll: () => open.forEach((socket) => void socket.destroy()),
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
