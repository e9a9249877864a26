import { AppError, TerminalClientMessage, type TerminalServerMessage, terminalSubprotocol } from '@croft/protocol';
import type { RawData, WebSocket } from 'ws';
import { operatorId } from '../../core/accounts/access/operator-ids.ts';
import type { SandboxTerminal, TerminalViewer } from '../../core/terminals/terminal.ts';
import type { TicketClaims, Tickets } from '../../core/terminals/terminal-tickets.ts';
import type { Terminals } from '../../core/terminals/terminals.ts';
import { parseJson } from '../../lib/text/parse-json.ts';
import type { UpgradeHandler } from './serve-upgrades.ts';

const maxFrameBytes = 256 * 1024;
/**
 * Limit on printed bytes that the connection has not taken. Without it, a client that confirms bytes it never read
 * would fill the memory of this process.
 */
const maxUnsentBytes = 4 * 1024 * 1024;
/** Limit on what a client sends before its terminal is ready. */
const maxEarlyBytes = 1024 * 1024;
/** A connection that is silent for this long counts as dead. */
const silentMs = 45_000;
const closeCodes = { done: 1000, refused: 4403, misspelt: 4400 } as const;

interface TerminalUpgradeOptions extends Pick<Terminals, 'enter'> {
  readonly tickets: Pick<Tickets, 'take' | 'read'>;
}

/**
 * Serves terminals over WebSocket: binary messages are what is typed and printed, text messages are everything else.
 */
export function createTerminalUpgrade({ enter, tickets }: TerminalUpgradeOptions): UpgradeHandler {
  return {
    subprotocol: terminalSubprotocol,
    maxFrameBytes,
    async findHolder(cluster, { url }) {
      const claims = readSandboxId(url) === undefined ? undefined : tickets.read(url.searchParams.get('ticket') ?? '');
      return claims && claims.accountId !== operatorId ? cluster.ofTerminal(claims, false) : undefined;
    },
    async accept({ url }) {
      const sandboxId = readSandboxId(url);
      if (sandboxId === undefined) return undefined;
      const claims = tickets.take(url.searchParams.get('ticket') ?? '');
      if (claims?.sandboxId !== sandboxId)
        throw new AppError('E_UNAUTHORIZED', 'the ticket is wrong, used or expired', {
          hint: 'Ask for another ticket: each opens one connection.',
        });
      return (socket) => serve(socket, claims, enter);
    },
  };
}

function readSandboxId({ pathname }: URL): string | undefined {
  return /^\/v1\/sandboxes\/([^/]+)\/terminal$/.exec(pathname)?.[1];
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
    const onMessage = withRefusals(socket, viewer, createMessageHandler(socket, terminal));
    for (const message of early) onMessage(...message);
    socket.on('message', onMessage);
    socket.once('close', () => terminal.detach(viewer));
    if (socket.readyState !== socket.OPEN) terminal.detach(viewer);
    keepAlive(socket);
  } catch (thrown) {
    refuse(socket, viewer, thrown);
  }
}

function refuse(socket: WebSocket, viewer: TerminalViewer, thrown: unknown): void {
  const { code, message } = AppError.from(thrown);
  viewer.tell({ type: 'error', code, message });
  socket.close(closeCodes.refused);
}

/** An exception in a listener of a socket would end the server. */
function withRefusals(
  socket: WebSocket,
  viewer: TerminalViewer,
  onMessage: (data: RawData, isBinary: boolean) => void,
) {
  return (data: RawData, isBinary: boolean): void => {
    try {
      if (socket.readyState === socket.OPEN) onMessage(data, isBinary);
    } catch (thrown) {
      refuse(socket, viewer, thrown);
    }
  };
}

function toViewer(socket: WebSocket): TerminalViewer {
  return {
    // The client can reconnect and continue from the last byte it received.
    show: (bytes) => (socket.bufferedAmount > maxUnsentBytes ? socket.terminate() : socket.send(bytes)),
    tell: (message: TerminalServerMessage) => socket.send(JSON.stringify(message)),
    leave: () => socket.close(closeCodes.done),
  };
}

function createMessageHandler(socket: WebSocket, terminal: SandboxTerminal) {
  return (data: RawData, isBinary: boolean): void => {
    if (isBinary) {
      terminal.type(toBuffer(data));
      return;
    }
    const asked = TerminalClientMessage.safeParse(parseJson(data.toString()));
    if (!asked.success) socket.close(closeCodes.misspelt);
    else if (asked.data.type === 'ack') terminal.confirm(asked.data.offset);
    else if (asked.data.type === 'resize') terminal.resize(asked.data);
    else terminal.end('the person closed it');
  };
}

/**
 * Pings the client. A connection that was cut gives no sign of it, so that one without a pong is closed; its terminal
 * can be resumed.
 */
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
