import { AppError, TerminalAsked, type TerminalTold, terminalSubprotocol } from '@croft/protocol';
import type { RawData, WebSocket } from 'ws';
import type { Terminal, Viewer } from '../core/terminals/terminal.ts';
import type { Terminals } from '../core/terminals/terminals.ts';
import type { TicketClaims, Tickets } from '../core/terminals/tickets.ts';
import type { UpgradeDoor } from './upgrades.ts';

const maxFrameBytes = 256 * 1024;
/** Printed, and not taken by the connection. Who confirms what they did not read would fill this process with it. */
const maxUnsentBytes = 4 * 1024 * 1024;
/** Of what comes before there is a terminal. */
const maxEarlyBytes = 1024 * 1024;
/** A connection that says nothing for so long is taken for dead. */
const silentMs = 45_000;
const closeCodes = { done: 1000, refused: 4403, misspelt: 4400 } as const;

export interface TerminalDoorOptions extends Pick<Terminals, 'enter'> {
  readonly tickets: Pick<Tickets, 'take'>;
}

/** Terminals by WebSocket: bytes are what is typed and printed, texts are everything else. */
export function createTerminalDoor({ enter, tickets }: TerminalDoorOptions): UpgradeDoor {
  return {
    subprotocol: terminalSubprotocol,
    maxFrameBytes,
    async knock({ url }) {
      const [, sandboxId] = /^\/v1\/sandboxes\/([^/]+)\/terminal$/.exec(url.pathname) ?? [];
      if (sandboxId === undefined) return undefined;
      const claims = tickets.take(url.searchParams.get('ticket') ?? '');
      if (claims?.sandboxId !== sandboxId)
        throw new AppError('E_UNAUTHORIZED', 'the ticket is wrong, was used or is over: ask for another');
      return (socket) => serve(socket, claims, enter);
    },
  };
}

async function serve(socket: WebSocket, claims: TicketClaims, enter: Terminals['enter']): Promise<void> {
  socket.on('error', () => {});
  const viewer = toViewer(socket);
  const early: [Buffer, boolean][] = [];
  let earlyBytes = 0;
  const wait = (data: RawData, isBinary: boolean) => {
    const bytes = toBuffer(data);
    earlyBytes += bytes.length;
    if (early.length < 100 && earlyBytes <= maxEarlyBytes) early.push([bytes, isBinary]);
  };
  socket.on('message', wait);
  try {
    const terminal = await enter(claims, claims, viewer);
    socket.off('message', wait);
    const hear = withRefusals(socket, viewer, createHearing(socket, terminal));
    for (const message of early) hear(...message);
    socket.on('message', hear);
    socket.once('close', () => terminal.detach(viewer));
    if (socket.readyState !== socket.OPEN) terminal.detach(viewer);
    keepAlive(socket);
  } catch (thrown) {
    refuse(socket, viewer, thrown);
  }
}

function refuse(socket: WebSocket, viewer: Viewer, thrown: unknown): void {
  const { code, message } = AppError.from(thrown);
  viewer.tell({ type: 'error', code, message });
  socket.close(closeCodes.refused);
}

/** Nobody else would catch what is thrown by one who listens to a socket, and the server would end. */
function withRefusals(socket: WebSocket, viewer: Viewer, hear: (data: RawData, isBinary: boolean) => void) {
  return (data: RawData, isBinary: boolean): void => {
    try {
      if (socket.readyState === socket.OPEN) hear(data, isBinary);
    } catch (thrown) {
      refuse(socket, viewer, thrown);
    }
  };
}

function toViewer(socket: WebSocket): Viewer {
  return {
    // It can be gone on with, from the last byte that really came.
    show: (bytes) => (socket.bufferedAmount > maxUnsentBytes ? socket.terminate() : socket.send(bytes)),
    tell: (message: TerminalTold) => socket.send(JSON.stringify(message)),
    leave: () => socket.close(closeCodes.done),
  };
}

function createHearing(socket: WebSocket, terminal: Terminal) {
  return (data: RawData, isBinary: boolean): void => {
    if (isBinary) {
      terminal.type(toBuffer(data));
      return;
    }
    const asked = TerminalAsked.safeParse(parseJson(data.toString()));
    if (!asked.success) socket.close(closeCodes.misspelt);
    else if (asked.data.type === 'ack') terminal.confirm(asked.data.offset);
    else if (asked.data.type === 'resize') terminal.resize(asked.data);
    else terminal.end();
  };
}

/** One that was cut off says nothing about it: without an answer it is let go of, and can be gone on with. */
function keepAlive(socket: WebSocket): void {
  let isHeard = true;
  socket.on('pong', () => {
    isHeard = true;
  });
  const timer = setInterval(() => {
    if (!isHeard) return socket.terminate();
    isHeard = false;
    socket.ping();
  }, silentMs / 3);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
