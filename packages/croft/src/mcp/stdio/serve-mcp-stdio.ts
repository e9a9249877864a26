import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { ServerContext } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { App } from '../../app/app.ts';
import { createFastLane } from '../fast-lane.ts';
import { createMcpServer } from '../mcp-server.ts';
import { mustNameNoSession } from '../read-session-name.ts';
import { createLazyApp, stdioSession } from './lazy-app.ts';
import { createStdioTransport } from './stdio-transport.ts';

/** Enough for a large file in one message, with its escapes. The same limit as over HTTP. */
const maxMessageBytes = 16 * 1024 * 1024;
/** How long the last answers may take to be written, for a client that reads slowly or not at all. */
const flushMs = 2000;

/** How long to wait for a silent client before the app is loaded anyway. */
const headStartMs = 100;

interface StdioOptions {
  readonly stdin: Readable;
  readonly stdout: Writable;
  onError(error: Error): void;
}

/**
 * Serves one client over a pair of streams; the connection is its session. The caller has checked the flags, and
 * `openApp` checks the rest.
 */
export function serveMcpStdio(openApp: () => Promise<App>, { stdin, stdout, onError }: StdioOptions) {
  const app = createLazyApp(openApp);
  const sessionOf = ({ mcpReq }: ServerContext) => {
    mustNameNoSession(mcpReq._meta);
    return stdioSession;
  };
  const lane = createFastLane({ toolbox: app.toolbox, session: () => stdioSession });
  const {
    transport,
    settled: allAnswered,
    answered,
  } = createStdioTransport({
    stdin,
    stdout,
    maxMessageBytes,
    intercept: (message) =>
      lane.take(message, {
        send: (answer) => void (answer && transport.send(answer)),
        notify: (notification) => void transport.send(notification),
        handOver: () => transport.onmessage?.(message),
      }),
  });
  const handle = serveStdio(() => createMcpServer(app.toolbox, sessionOf), { transport, onerror: onError });
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve());
    stdout.once('error', () => resolve());
  });
  return {
    /** Resolves when the client is gone. */
    closed,
    /** Opens the app after the first answer was written, or after a short wait. Throws if the app cannot be opened. */
    async open(): Promise<App> {
      await Promise.race([answered, closed, setTimeout(headStartMs, undefined, { ref: false })]);
      const opened = await app.open().catch(async (thrown) => {
        // Clients that already asked something get the reason before the process ends.
        await allAnswered(flushMs);
        throw thrown;
      });
      return opened.app;
    },
    /** Answers the calls that are running, then disconnects the client. */
    async stop(deadlineMs: number): Promise<void> {
      await app.stopCalls(deadlineMs);
      await allAnswered(flushMs);
      await handle.close();
      await app.close();
    },
    async close(): Promise<void> {
      lane.close();
      await handle.close();
      await app.stopCalls(0);
      await app.close();
    },
  };
}
