import { AppError } from '@croft/protocol';
import type { Context } from 'hono';
import { openSignedToken, signToken } from '../../lib/crypto/signed-token.ts';

/** The header of a request that another server of the same database has forwarded. */
export const forwardHeader = 'croft-forward';
/** The header of an answer that says that the server has not begun to handle a forwarded request. */
export const refusedHeader = 'croft-forward-refused';

const about = 'croft forward 1\0';
const validMs = 10_000;

/** The signed claims of a forwarded request. Valid for one request line, at one server, for a few seconds. */
interface ForwardClaims {
  /** The id of the server that the request is for. */
  readonly to: string;
  /** The epoch by which that server has what the request needs. */
  readonly epoch: number;
  readonly method: string;
  readonly path: string;
  /** In milliseconds since 1970, by the clock of the database. */
  readonly at: number;
}

interface ForwardReader {
  readonly id: string;
  readonly forwardKey: Buffer;
  now(): Date;
}

/** The claims of a header that was checked. */
export type Forwarded = Pick<ForwardClaims, 'to' | 'epoch'>;

const ofRequest = new WeakMap<Context, Forwarded>();

/** Checks the header of a request, for everything that handles the request later. */
export function noteForwarded(cluster: ForwardReader | undefined, c: Context): void {
  const { url = '/' } = (c.env as { readonly incoming?: { readonly url?: string } } | undefined)?.incoming ?? {};
  const forwarded = readForwardHeader(cluster, {
    method: c.req.method,
    path: url,
    header: c.req.header(forwardHeader),
  });
  if (forwarded) ofRequest.set(c, forwarded);
}

/** Whether another server has forwarded the request, and has already judged where it came from and how often. */
export function forwardedOf(c: Context): Forwarded | undefined {
  return ofRequest.get(c);
}

export function writeForwardHeader(key: Buffer, claims: ForwardClaims): string {
  return signToken(key, about, claims);
}

/** Returns nothing for a request without the header. Throws `E_UNAUTHORIZED` for a header that is forged or too old. */
export function readForwardHeader(
  cluster: ForwardReader | undefined,
  request: { readonly method: string; readonly path: string; readonly header: string | undefined },
): Forwarded | undefined {
  const { header, method, path } = request;
  if (header === undefined || !cluster) return undefined;
  const claims = openSignedToken(cluster.forwardKey, about, header) as ForwardClaims | undefined;
  const isOurs = claims?.method === method && claims.path === path;
  if (!isOurs || Math.abs(cluster.now().getTime() - claims.at) > validMs)
    throw new AppError('E_UNAUTHORIZED', `the header ${forwardHeader} is not of a server of this database, or too old`);
  return { to: claims.to, epoch: claims.epoch };
}
