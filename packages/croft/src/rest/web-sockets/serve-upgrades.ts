import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { AppError } from '@croft/protocol';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Holding } from '../../app/cluster/holding-server.ts';
import { forwardHeader, readForwardHeader } from '../forward/forward-header.ts';
import { loop, serverLost } from '../forward/forward-refusal.ts';
import { forwardUpgrade, type Upgrade } from '../forward/forward-upgrade.ts';
import type { ForwardingCluster } from '../forward/serve-where-held.ts';
import { checkHost, checkOrigin } from '../http/guards.ts';

/** A request to open a WebSocket. */
interface UpgradeRequest {
  readonly url: URL;
  readonly request: IncomingMessage;
  /** The IP address of the other side. */
  readonly address: string;
  readonly isEncrypted: boolean;
}

/** Handles WebSockets of one kind. */
export interface UpgradeHandler {
  readonly subprotocol: string;
  readonly maxFrameBytes: number;
  /**
   * Returns `undefined` for an address of another kind, or a function that takes the socket. Throws an `AppError` to
   * refuse the request.
   */
  accept(knock: UpgradeRequest): Promise<((socket: WebSocket) => void) | undefined>;
  /** Finds the server of the upgrade. Absent or `undefined`: this one. */
  findHolder?(cluster: ForwardingCluster, knock: UpgradeRequest): Promise<Holding | undefined>;
}

interface UpgradeOptions {
  readonly hostNames: readonly string[];
  readonly handlers: readonly UpgradeHandler[];
  /** The servers that share the records. Absent: this is the only one. */
  readonly cluster?: ForwardingCluster | undefined;
  isStopping(): boolean;
}

/** Serves WebSockets beside HTTP. Pages of other sites are refused, as over HTTP. */
export function serveUpgrades(server: Server, { hostNames, handlers, cluster, isStopping }: UpgradeOptions): void {
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A client that disconnects while it waits is no error.
    socket.on('error', () => {});
    serve({ request, socket, head }).catch((thrown) => refuse(socket, AppError.from(thrown)));
  });

  async function serve(upgrade: Upgrade): Promise<void> {
    const { request, socket, head } = upgrade;
    const forwarded = mustBeWelcome(request);
    const knock = toUpgradeRequest(request);
    const holding = await findHolder(knock);
    if (cluster && holding && holding.kind !== 'here') return serveElsewhere(cluster, holding, upgrade, forwarded);
    const done = holding ? cluster?.use(holding.key) : undefined;
    socket.once('close', () => done?.());
    const { handler, take } = await accept(knock);
    upgraderOf(handler).handleUpgrade(request, socket, head, take);
  }

  /** Returns whether another server has judged the request already. */
  function mustBeWelcome({ method = 'GET', url: path = '/', headers }: IncomingMessage): boolean {
    const forwarded = readForwardHeader(cluster, { method, path, header: toOne(headers[forwardHeader]) });
    if (!forwarded) {
      checkHost(headers.host, hostNames);
      checkOrigin(headers.origin, headers.host);
    }
    if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
    return forwarded !== undefined;
  }

  async function findHolder(knock: UpgradeRequest): Promise<Holding | undefined> {
    if (!cluster) return undefined;
    for (const handler of handlers) {
      const holding = await handler.findHolder?.(cluster, knock);
      if (holding) return holding;
    }
    return undefined;
  }

  async function accept(knock: UpgradeRequest) {
    for (const handler of handlers) {
      const take = await handler.accept(knock);
      if (take) return { handler, take };
    }
    throw new AppError('E_NOT_FOUND', 'there is no WebSocket at this address', {
      hint: 'Check the path; docs/terminals.md and docs/runners.md name the addresses.',
    });
  }
}

async function serveElsewhere(
  cluster: ForwardingCluster,
  holding: Exclude<Holding, { readonly kind: 'here' }>,
  upgrade: Upgrade,
  isForwarded: boolean,
): Promise<void> {
  if (holding.kind === 'unreachable') throw serverLost('that had it', 'it does not beat any more', false);
  if (isForwarded) throw loop();
  await forwardUpgrade(cluster, holding, upgrade);
}

function toOne(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header;
}

const upgraders = new WeakMap<UpgradeHandler, WebSocketServer>();

function upgraderOf(handler: UpgradeHandler): WebSocketServer {
  const known = upgraders.get(handler);
  if (known) return known;
  const made = new WebSocketServer({
    noServer: true,
    // Messages are small or not text, so that compressing them costs more than it saves.
    perMessageDeflate: false,
    maxPayload: handler.maxFrameBytes,
    handleProtocols: (offered) => (offered.has(handler.subprotocol) ? handler.subprotocol : false),
  });
  upgraders.set(handler, made);
  return made;
}

function toUpgradeRequest(request: IncomingMessage): UpgradeRequest {
  return {
    request,
    url: new URL(request.url ?? '/', 'http://localhost'),
    address: request.socket.remoteAddress ?? '',
    isEncrypted: request.socket instanceof TLSSocket,
  };
}

/** Writes the error as the rest of the server does. By hand, because there is no HTTP response after an upgrade. */
function refuse(socket: Duplex, error: AppError): void {
  const { status } = error.traits;
  const body = JSON.stringify({ error });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    ...['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, 'Connection: close'],
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
  ];
  // Otherwise a client that does not close its side would keep the socket open for ever.
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
