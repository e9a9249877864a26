import type { Readable, Writable } from 'node:stream';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { App } from '../app.ts';
import { createFastLane } from './fast-lane.ts';
import { createMcpServer } from './server.ts';
import { createStdioTransport } from './stdio-transport.ts';

/** Room for a large file in one message, with its escapes; as much as over HTTP. */
const maxMessageBytes = 16 * 1024 * 1024;
/** For a client that reads; one that does not has had its chance. */
const flushMs = 2000;

export interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  onError(error: Error): void;
}

/** Serves one client over a pair of streams: the connection is its session. */
export function serveMcpStdio(app: App, { stdin, stdout, onError }: StdioOptions) {
  const session = app.newSession('stdio');
  const lane = createFastLane({ toolbox: app.toolbox, session: () => session });
  const { transport, settled } = createStdioTransport({
    stdin,
    stdout,
    maxMessageBytes,
    intercept: (message) => lane.take(message, (answer) => void (answer && transport.send(answer))),
  });
  const handle = serveStdio(() => createMcpServer(app, () => session), { transport, onerror: onError });
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    stdout.once('error', () => resolve());
  });
  return {
    /** When the client has gone. */
    closed,
    /** Lets what was taken on be answered, and then lets go of the client. */
    async stop(deadlineMs: number): Promise<void> {
      await app.toolbox.stop(deadlineMs);
      await settled(flushMs);
      await handle.close();
      await session.close();
    },
    async close(): Promise<void> {
      lane.close();
      await handle.close();
      await app.toolbox.stop(0);
      await session.close();
    },
  };
}
