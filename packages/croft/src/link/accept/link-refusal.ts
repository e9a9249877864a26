import type { RunnerRefusalCode, RunnerRefused } from '@croft/protocol';
import type { WebSocket } from 'ws';

const closedWithinMs = 2000;

/** The reason why a runner is refused, as the runner sees it. */
export class LinkRefusal extends Error {
  override readonly name = 'LinkRefusal';
  readonly code: RunnerRefusalCode;

  constructor(code: RunnerRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Closes a socket. Only a `LinkRefusal` is sent to the runner; after any other error the runner reconnects, as after a
 * cut.
 */
export function refuseConnection(socket: WebSocket, thrown: unknown): void {
  if (thrown instanceof LinkRefusal) {
    const refused: RunnerRefused = { type: 'refused', code: thrown.code, message: thrown.message.slice(0, 1000) };
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(refused));
    socket.close(1008);
  } else socket.close(1011);
  setTimeout(() => socket.terminate(), closedWithinMs).unref();
}
