import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { AppError } from '@croft/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import { checkHost, checkOrigin } from './guards.ts';

/** Who wants to speak by WebSocket, before they do. */
export interface Knock {
  readonly url: URL;
  readonly request: IncomingMessage;
  /** Of the other end of the cable. */
  readonly address: string;
  readonly isEncrypted: boolean;
}

/** A door for WebSockets. Throws an `AppError` for who may not enter; what it answers then takes the socket. */
export interface UpgradeDoor {
  readonly subprotocol: string;
  readonly maxFrameBytes: number;
  /** Nothing: this is another door's. */
  knock(knock: Knock): Promise<((socket: WebSocket) => void) | undefined>;
}

export interface UpgradeOptions {
  readonly hostNames: readonly string[];
  readonly doors: readonly UpgradeDoor[];
  isStopping(): boolean;
}

/** Serves WebSockets beside everything else. A page of another site gets none, as over HTTP. */
export function serveUpgrades(server: Server, { hostNames, doors, isStopping }: UpgradeOptions): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // One that goes away while it waits is nobody's trouble.
    socket.on('error', () => {});
    enter(request).then(
      ({ door, take }) => upgraderOf(door).handleUpgrade(request, socket, head, take),
      (thrown) => refuse(socket, AppError.from(thrown)),
    );
  });

  async function enter(request: IncomingMessage) {
    const { host, origin } = request.headers;
    checkHost(host, hostNames);
    checkOrigin(origin, host);
    if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
    const knock = toKnock(request);
    for (const door of doors) {
      const take = await door.knock(knock);
      if (take) return { door, take };
    }
    throw new AppError('E_NOT_FOUND', 'there is no WebSocket at this address');
  }
}

const upgraders = new WeakMap<UpgradeDoor, WebSocketServer>();

function upgraderOf(door: UpgradeDoor): WebSocketServer {
  const known = upgraders.get(door);
  if (known) return known;
  const made = new WebSocketServer({
    noServer: true,
    // What is sent is small or no text: to press it together costs more than it saves.
    perMessageDeflate: false,
    maxPayload: door.maxFrameBytes,
    handleProtocols: (offered) => (offered.has(door.subprotocol) ? door.subprotocol : false),
  });
  upgraders.set(door, made);
  return made;
}

function toKnock(request: IncomingMessage): Knock {
  return {
    request,
    url: new URL(request.url ?? '/', 'http://localhost'),
    address: request.socket.remoteAddress ?? '',
    isEncrypted: request.socket instanceof TLSSocket,
  };
}

/** As the rest of the server answers, by hand: there is nobody else left to. */
function refuse(socket: Duplex, error: AppError): void {
  const { status } = error.traits;
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'],
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
  ];
  // One that does not hang up in turn would be kept for ever.
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
