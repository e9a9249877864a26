import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { isAddress } from '../host-name.ts';
import type { ClientHello } from './client-hello.ts';
import { connectToTarget } from './connect-to-target.ts';
import { type ProxyContext, refuseWhenSpent, reportWhenSpent } from './proxy-context.ts';
import { closeWith, formatRefusal, type Refusal, toPolicyRefusal } from './proxy-refusal.ts';
import { formatAuthority, parseAuthority, type Target, unknownTarget } from './proxy-target.ts';
import { isLikeHttp, isTls, readClientHello } from './read-client-hello.ts';

/** The fatal TLS alert "access denied", which is all that a TLS program can show of a refusal. */
const accessDenied = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/**
 * Opens the tunnel that a CONNECT asks for. TLS in the tunnel must begin with a hello that names the judged host; no
 * byte goes out before. Some programs send plain HTTP through a tunnel: then the target is returned, and the caller
 * must judge and forward each request. Any other protocol is refused.
 */
export async function openTunnel(
  request: IncomingMessage,
  client: Socket,
  head: Buffer,
  context: ProxyContext,
): Promise<Target | undefined> {
  const gone = new AbortController();
  client.once('close', () => gone.abort());
  client.setTimeout(context.limits.idleTimeoutMs, () => client.destroy());
  const target = parseAuthority(request.url ?? '');
  if (!target) return refuse(client, malformed, context);
  const spent = refuseWhenSpent(target, context);
  if (spent) return refuse(client, spent, context);

  const reached = await connectToTarget(target, context, gone.signal);
  if ('refusal' in reached) return refuse(client, reached.refusal, context);
  client.once('close', () => reached.socket.destroy());
  if (client.destroyed) return void reached.socket.destroy();
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  return openWithHello({ client, server: reached.socket, head, target }, context);
}

interface TunnelEnds {
  readonly client: Socket;
  readonly server: Socket;
  /** Bytes that the client has already sent. */
  readonly head: Buffer;
  readonly target: Target;
}

async function openWithHello({ client, server, head, target }: TunnelEnds, context: ProxyContext) {
  const { bytes, hello } = await readClientHello(client, head, context.limits.helloTimeoutMs);
  const hasLeft = client.destroyed || (client.readableEnded && bytes.length === 0);
  if (hasLeft) return void client.destroy();
  const isPlain = isLikeHttp(bytes);
  const refusal = isPlain ? undefined : judgeHello(hello, target);
  if (!isPlain && !refusal) return void joinSockets({ client, server, head: bytes, target }, context);

  server.destroy();
  if (!refusal) {
    client.unshift(bytes);
    return target;
  }
  context.onRefused(refusal);
  return closeWith(client, isTls(bytes) ? accessDenied : formatRefusal(refusal));
}

function refuse(client: Socket, refusal: Refusal, { onRefused }: ProxyContext): undefined {
  onRefused(refusal);
  return closeWith(client, formatRefusal(refusal));
}

const malformed = toPolicyRefusal(
  { ...unknownTarget, rule: 'request-form', reason: 'CONNECT takes a host and a port, such as example.com:443.' },
  400,
);

/** Refuses a hello unless it readably names the judged host, because the server chooses the site by that name. */
function judgeHello(hello: ClientHello | undefined, target: Target): Refusal | undefined {
  const authority = formatAuthority(target, 443);
  if (!hello) {
    const reason = `The tunnel to ${authority} did not begin with TLS, and there is no way out for other protocols.`;
    return toPolicyRefusal({ ...target, rule: 'tls', reason });
  }
  if (hello.isEncrypted) {
    const reason = `The TLS hello to ${authority} is encrypted (ECH), which hides the server it is for; turn that off.`;
    return toPolicyRefusal({ ...target, rule: 'tls-name', reason });
  }
  const named = hello.serverName?.toLowerCase();
  // Programs send no server name when they connect to an address.
  if (named === target.host || (named === undefined && isAddress(target.host))) return undefined;
  const reason = `The tunnel is for ${target.host}, but the TLS hello in it names ${named?.slice(0, 253) ?? 'no server (SNI)'}.`;
  return toPolicyRefusal({ ...target, rule: 'tls-name', reason });
}

function joinSockets({ client, server, head, target }: TunnelEnds, context: ProxyContext): void {
  server.setTimeout(context.limits.idleTimeoutMs, () => server.destroy());
  server.once('close', () => client.destroySoon());
  server.write(head);
  pass(client, server);
  pass(server, client);

  function pass(from: Socket, to: Socket): void {
    const stages = context.meter.stages();
    for (const stage of stages) stage.once('error', cut);
    [...stages, to].reduce<Readable>((source, next) => source.pipe(next), from);
  }
  function cut(): void {
    reportWhenSpent(target, context);
    client.destroy();
  }
}
