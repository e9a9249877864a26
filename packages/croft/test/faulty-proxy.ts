import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** With the query, as it came. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export type Fault =
  /** Answered by the proxy; the server never hears of it. */
  | { readonly status: number; readonly code?: string }
  /** The server has so many bytes of the body when the connection ends. */
  | { readonly cutRequestAfter: number }
  /** The client has so many bytes of the body when the connection ends. */
  | { readonly cutResponseAfter: number }
  /** The server has done it, and nobody is told. */
  | 'lose-answer'
  /** Nothing happens until then; after that it goes on as if nothing had been. */
  | { readonly until: Promise<unknown> }
  /** Answered with a redirect. */
  | { readonly redirectTo: string };

interface Rule {
  readonly fault: Fault;
  matches(seen: SeenRequest): boolean;
  left: number;
}

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Every request that came, in order. */
  readonly seen: readonly SeenRequest[];
  /** For the next `times` requests that match (all of them if left out). Answers how to take it back. */
  when(matches: (seen: SeenRequest) => boolean, fault: Fault, times?: number): Disposable;
  /** Ends every connection that there is now. */
  cut(): void;
  /** Connections are refused until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

/** Stands between a client and an HTTP server on loopback, and does what networks do. */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const seen: SeenRequest[] = [];
  const rules = new Set<Rule>();
  const sockets = new Set<Socket>();
  const server = createServer((incoming, outgoing) => {
    const { method = '', url: path = '', headers, socket } = incoming;
    seen.push({ method, path, headers });
    const fault = takeFault(rules, { method, path, headers });
    serve(new URL(target), incoming, outgoing, fault).catch(() => socket.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket)).on('error', () => {});
  });
  const listen = async (port: number) => void (await once(server.listen(port, '127.0.0.1'), 'listening'));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const refuse = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  };
  return {
    ...{ url: `http://127.0.0.1:${port}`, seen, cut, refuse },
    when(matches, fault, times = Number.POSITIVE_INFINITY) {
      const rule: Rule = { fault, matches, left: times };
      rules.add(rule);
      return { [Symbol.dispose]: () => void rules.delete(rule) };
    },
    accept: () => listen(port),
    [Symbol.asyncDispose]: refuse,
  };
}

function takeFault(rules: Set<Rule>, seen: SeenRequest): Fault | undefined {
  for (const rule of rules) {
    if (!rule.matches(seen)) continue;
    rule.left -= 1;
    if (rule.left === 0) rules.delete(rule);
    return rule.fault;
  }
  return undefined;
}

async function serve(target: URL, incoming: IncomingMessage, outgoing: ServerResponse, fault: Fault | undefined) {
  if (fault !== undefined && fault !== 'lose-answer') {
    if ('status' in fault) return refuse(incoming, outgoing, fault);
    if ('redirectTo' in fault) return outgoing.writeHead(307, { location: fault.redirectTo }).end();
    if ('until' in fault) await fault.until;
  }
  const answer = await forward(target, incoming, typeof fault === 'object' ? fault : undefined);
  if (fault === 'lose-answer') {
    for await (const _ of answer);
    return outgoing.socket?.destroy();
  }
  outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
  const room = typeof fault === 'object' && 'cutResponseAfter' in fault ? fault.cutResponseAfter : undefined;
  if (room === undefined) return answer.pipe(outgoing);
  await copyUpTo(answer, room, (bytes) => outgoing.write(bytes));
  outgoing.flushHeaders();
  return outgoing.socket?.destroySoon();
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, fault: { status: number; code?: string }) {
  incoming.resume();
  const code = fault.code === undefined ? '' : `<Error><Code>${fault.code}</Code></Error>`;
  outgoing.writeHead(fault.status, { 'content-type': 'application/xml' }).end(code);
}

/** The headers go on as they came, the host among them: it is signed. */
async function forward(target: URL, incoming: IncomingMessage, fault: Exclude<Fault, 'lose-answer'> | undefined) {
  const { method, url: path, rawHeaders: headers } = incoming;
  const onward = request({ hostname: target.hostname, port: target.port, method, path, headers, agent: false });
  const answered = once(onward, 'response');
  if (fault && 'cutRequestAfter' in fault) {
    await copyUpTo(incoming, fault.cutRequestAfter, (bytes) => onward.write(bytes));
    onward.destroy(new Error('cut'));
  } else incoming.pipe(onward);
  const [answer] = (await answered) as [IncomingMessage];
  return answer;
}

async function copyUpTo(source: IncomingMessage, room: number, write: (bytes: Buffer) => void): Promise<void> {
  let left = room;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    if (left > 0) write(chunk.subarray(0, left));
    left -= chunk.length;
    if (left <= 0) return;
  }
}
