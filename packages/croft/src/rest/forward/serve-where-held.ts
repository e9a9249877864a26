import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'hono';
import type { Cluster } from '../../app/cluster/cluster.ts';
import type { Holding } from '../../app/cluster/holding-server.ts';
import { type Forwarded, forwardHeader, refusedHeader, writeForwardHeader } from './forward-header.ts';
import { loop, serverLost } from './forward-refusal.ts';
import { withoutHopHeaders } from './hop-headers.ts';
import { mustBeConnected } from './must-be-connected.ts';
import { passAnswerOn } from './pass-answer-on.ts';
import { type SendOutcome, sendToServer } from './send-to-server.ts';

/** Bodies up to this size are kept until there is an answer, so that the request can be sent to another server. */
const maxKeptBytes = 1024 * 1024;
/** How long a request waits for a server that can serve it: longer than it takes until a dead server is replaced. */
const patienceMs = 25_000;
const pauseMs = 250;
const silent = 'it does not beat any more';

export type ForwardingCluster = Pick<
  Cluster,
  | 'id'
  | 'forwardKey'
  | 'now'
  | 'isCutOff'
  | 'isReachable'
  | 'use'
  | 'onlyReads'
  | 'ofAgent'
  | 'ofWorkspace'
  | 'ofTerminal'
>;

export interface HeldRequest {
  /** Finds the server of the request. `isFresh`: looks it up again instead of using an earlier answer. */
  find(cluster: ForwardingCluster, isFresh: boolean): Promise<Holding>;
  /** Whether the request changes nothing, so that it can be sent again after its server died. */
  isRead(cluster: ForwardingCluster): boolean;
}

interface NodeEnvironment {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Serves a request where its workspace is. Returns nothing if that is this server: the caller goes on. Otherwise
 * forwards the request, at most once, and passes the answer on.
 */
export async function serveWhereHeld(
  cluster: ForwardingCluster | undefined,
  c: Context,
  forwarded: Forwarded | undefined,
  request: HeldRequest,
): Promise<Response | undefined> {
  if (!cluster) return undefined;
  mustBeConnected(cluster);
  const holding = await request.find(cluster, false);
  if (forwarded) mustBeHere(cluster, holding, forwarded);
  if (holding.kind === 'here') return serveHere(cluster, c, holding);
  return forwardUntilServed(cluster, c, request, holding);
}

function mustBeHere(cluster: ForwardingCluster, holding: Holding, { to, epoch }: Forwarded): void {
  if (to !== cluster.id || holding.kind !== 'here' || holding.epoch !== epoch) throw loop();
}

/** The lease stays while the answer is sent, which may be an endless stream. */
function serveHere(cluster: ForwardingCluster, c: Context, { key }: Holding): undefined {
  const done = cluster.use(key);
  (c.env as NodeEnvironment).outgoing.once('close', done);
}

async function forwardUntilServed(
  cluster: ForwardingCluster,
  c: Context,
  request: HeldRequest,
  first: Holding,
): Promise<Response | undefined> {
  const body = await keepBody(c);
  const giveUpAt = performance.now() + patienceMs;
  let [holding, reason]: [Holding, string] = [first, silent];
  while (performance.now() < giveUpAt) {
    if (holding.kind === 'here') return serveKept(cluster, c, holding, body);
    const answer = await tryOnce(cluster, c, { holding, body, isRead: request.isRead(cluster) });
    if (typeof answer !== 'string') return answer;
    reason = answer;
    const next = await request.find(cluster, true);
    if (isSame(next, holding)) await sleep(pauseMs);
    holding = next;
  }
  throw serverLost(addressOf(holding), reason, false);
}

interface Attempt {
  readonly holding: Exclude<Holding, { readonly kind: 'here' }>;
  readonly body: KeptBody;
  readonly isRead: boolean;
}

/** Returns the answer, or why the request can be sent again. Throws `E_SERVER_LOST` if it cannot. */
async function tryOnce(cluster: ForwardingCluster, c: Context, attempt: Attempt): Promise<Response | string> {
  const { holding, body, isRead } = attempt;
  if (holding.kind === 'unreachable') return silent;
  const outcome = await forward(cluster, c, holding, body);
  if (outcome.kind === 'answered') return passAnswerOn(outcome, (c.env as NodeEnvironment).outgoing);
  const isLost = outcome.kind === 'lost';
  if ((isLost && !isRead) || body === 'stream') throw serverLost(addressOf(holding), outcome.reason, isLost);
  return outcome.reason;
}

function isSame(one: Holding, other: Holding): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function addressOf(holding: Holding): string {
  return holding.kind === 'elsewhere' ? holding.server.address : 'that had it';
}

/** Serves a request whose body was kept, because the other server died and this one has taken over. */
function serveKept(cluster: ForwardingCluster, c: Context, holding: Holding, body: KeptBody): undefined {
  const { method, headers, url, signal } = c.req.raw;
  if (Buffer.isBuffer(body)) c.req.raw = new Request(url, { method, headers, signal, body: new Uint8Array(body) });
  return serveHere(cluster, c, holding);
}

type KeptBody = Buffer | 'stream' | undefined;

/** Reads a small body whole. A large one is read once, while it is sent. */
async function keepBody({ req }: Context): Promise<KeptBody> {
  if (req.method === 'GET' || req.method === 'HEAD') return undefined;
  const length = req.header('content-length');
  if (length === undefined && req.header('transfer-encoding') === undefined) return undefined;
  if (length === undefined || Number(length) > maxKeptBytes) return 'stream';
  return Buffer.from(await req.raw.arrayBuffer());
}

type Elsewhere = Extract<Holding, { readonly kind: 'elsewhere' }>;

async function forward(
  cluster: ForwardingCluster,
  c: Context,
  { server, epoch }: Elsewhere,
  body: KeptBody,
): Promise<SendOutcome> {
  const { incoming, outgoing } = c.env as NodeEnvironment;
  const [method, path] = [incoming.method ?? 'GET', incoming.url ?? '/'];
  const claims = { to: server.id, epoch, method, path, at: cluster.now().getTime() };
  const outcome = await sendToServer({
    ...{ address: server.address, method, path },
    headers: {
      ...withoutHopHeaders(incoming.headers),
      [forwardHeader]: writeForwardHeader(cluster.forwardKey, claims),
    },
    body: body === 'stream' ? incoming : body,
    isReachable: () => cluster.isReachable(server.id) && !outgoing.destroyed,
  });
  if (outcome.kind !== 'answered' || outcome.response.headers[refusedHeader] === undefined) return outcome;
  outcome.response.resume();
  return { kind: 'not-sent', reason: 'it did not take the request' };
}
