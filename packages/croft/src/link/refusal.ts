import type { RunnerRefusalCode, RunnerRefused } from '@croft/protocol';
import type { WebSocket } from 'ws';

const closedWithinMs = 2000;

/** Why a runner may not enter, as it is told. */
export class LinkRefusal extends Error {
  override readonly name = 'LinkRefusal';
  readonly code: RunnerRefusalCode;

  constructor(code: RunnerRefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A failure of the server is not told as a refusal: the runner comes again, as after any cut. */
export function refuse(socket: WebSocket, thrown: unknown): void {
  if (thrown instanceof LinkRefusal) {
    const refused: RunnerRefused = { type: 'refused', code: thrown.code, message: thrown.message.slice(0, 1000) };
    if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(refused));
    socket.close(1008);
  } else socket.close(1011);
  setTimeout(() => socket.terminate(), closedWithinMs).unref();
}
