import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { isAddress } from '../host-name.ts';
import type { ClientHello } from './client-hello.ts';
import { type ProxyContext, refuseWhenSpent, tellWhenSpent } from './context.ts';
import { reach } from './reach.ts';
import { isLikeHttp, isTls, readHello } from './read-hello.ts';
import { closeWith, deny, formatAnswer, type Refusal } from './refusal.ts';
import { formatAuthority, nowhere, parseAuthority, type Target } from './target.ts';

/** A fatal alert, "access denied": all that a TLS program can show of a refusal. */
const accessDenied = Buffer.from([21, 3, 3, 0, 2, 2, 49]);

/**
 * Makes the tunnel that a CONNECT asks for. TLS in it must begin by naming the very host that was judged; until it
 * did, no byte goes out. For plain HTTP in it, which some programs send that way, the answer is the server it is for,
 * and it is for the caller to carry out one by one. Nothing else goes through.
 */
export async function tunnel(
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

  const reached = await reach(target, context, gone.signal);
  if ('refusal' in reached) return refuse(client, reached.refusal, context);
  client.once('close', () => reached.socket.destroy());
  if (client.destroyed) return void reached.socket.destroy();
  client.write('HTTP/1.1 200 Connection established\r\n\r\n');
  return openWithHello({ client, server: reached.socket, head, target }, context);
}

interface Ends {
  readonly client: Socket;
  readonly server: Socket;
  /** What the client sent already. */
  readonly head: Buffer;
  readonly target: Target;
}

async function openWithHello({ client, server, head, target }: Ends, context: ProxyContext) {
  const { bytes, hello } = await readHello(client, head, context.limits.helloTimeoutMs);
  const hasLeft = client.destroyed || (client.readableEnded && bytes.length === 0);
  if (hasLeft) return void client.destroy();
  const isPlain = isLikeHttp(bytes);
  const refusal = isPlain ? undefined : judgeHello(hello, target);
  if (!isPlain && !refusal) return void join({ client, server, head: bytes, target }, context);

  server.destroy();
  if (!refusal) {
    client.unshift(bytes);
    return target;
  }
  context.onRefused(refusal);
  return closeWith(client, isTls(bytes) ? accessDenied : formatAnswer(refusal));
}

function refuse(client: Socket, refusal: Refusal, { onRefused }: ProxyContext): undefined {
  onRefused(refusal);
  return closeWith(client, formatAnswer(refusal));
}

const malformed = deny(
  { ...nowhere, rule: 'request-form', reason: 'CONNECT takes a host and a port, such as example.com:443.' },
  400,
);

/** A name the server goes by must be the one that was judged; a name nobody can read could be any. */
function judgeHello(hello: ClientHello | undefined, target: Target): Refusal | undefined {
  const place = formatAuthority(target, 443);
  if (!hello) {
    const reason = `The tunnel to ${place} did not begin with TLS, and there is no way out for other protocols.`;
    return deny({ ...target, rule: 'tls', reason });
  }
  if (hello.isEncrypted) {
    const reason = `The TLS hello to ${place} is encrypted (ECH), which hides the server it is for; turn that off.`;
    return deny({ ...target, rule: 'tls-name', reason });
  }
  const named = hello.serverName?.toLowerCase();
  // An address has no name to send, and programs send none for it.
  if (named === target.host || (named === undefined && isAddress(target.host))) return undefined;
  const reason = `The tunnel is for ${target.host}, but the TLS hello in it names ${named?.slice(0, 253) ?? 'no server (SNI)'}.`;
  return deny({ ...target, rule: 'tls-name', reason });
}

function join({ client, server, head, target }: Ends, context: ProxyContext): void {
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
    tellWhenSpent(target, context);
    client.destroy();
  }
}
