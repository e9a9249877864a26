import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  /** Path with the query, as received. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export type Fault =
  /** The proxy answers; the server gets nothing. */
  | { readonly status: number; readonly code?: string }
  /** The connection ends after the server has received this many bytes of the body. */
  | { readonly cutRequestAfter: number }
  /** The connection ends after the client has received this many bytes of the body. */
  | { readonly cutResponseAfter: number }
  /** The server carries out the request, and the answer is lost. */
  | 'lose-answer'
  /** The request waits for the promise and then goes on as usual. */
  | { readonly until: Promise<unknown> }
  /** The proxy answers with a redirect. */
  | { readonly redirectTo: string };

interface Rule {
  readonly fault: Fault;
  matches(seen: SeenRequest): boolean;
  left: number;
}

export interface FaultyProxy extends AsyncDisposable {
  readonly url: string;
  /** Every request so far, in order. */
  readonly seen: readonly SeenRequest[];
  /** Applies the fault to the next `times` requests that match, or to all. Dispose the result to remove it. */
  when(matches: (seen: SeenRequest) => boolean, fault: Fault, times?: number): Disposable;
  /** Ends all open connections. */
  cut(): void;
  /** Refuses connections until `accept`. */
  refuse(): Promise<void>;
  accept(): Promise<void>;
}

/** Starts a proxy between a client and an HTTP server on loopback that behaves like a bad network. */
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

/** Passes the headers on unchanged, including the host, which is signed. */
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
