import type { LookupFunction } from 'node:net';
import { AppError } from '@croft/protocol';
import { canonicalHost, isAddress } from '../../../lib/net/host-name.ts';
import { createLookup, judgeAddress } from './endpoint-addresses.ts';

export interface EndpointOptions {
  /** Defaults to the AWS endpoint of the region. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  readonly forcePathStyle?: boolean | undefined;
  /** Allows addresses of this machine and of private networks, and plain HTTP to them. The operator decides this. */
  readonly allowPrivate?: boolean | undefined;
}

export interface Endpoint {
  /** URL of the service, without the bucket. */
  readonly service: string;
  /** URL of the bucket; a key is appended to it. */
  readonly bucketUrl: URL;
  readonly isPathStyle: boolean;
  /**
   * Looks up the host at each connection and filters the addresses: a host name may resolve to any address, and to
   * another one next time.
   */
  readonly lookup: LookupFunction;
}

const regionForm = /^[a-z0-9][a-z0-9-]{0,62}$/;
const bucketForm = /^[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]$/;

/** Throws `E_INVALID_INPUT` for an endpoint that is not allowed in a record. */
export function toEndpoint(options: EndpointOptions): Endpoint {
  const { endpoint, region, bucket, forcePathStyle, allowPrivate = false } = options;
  if (!regionForm.test(region)) throw invalid('region', 'must be of lower case letters, digits and hyphens');
  if (!bucketForm.test(bucket) || bucket.includes('..')) throw invalid('bucket', 'is not the name of a bucket');
  const service = toService(endpoint ?? defaultEndpoint(region), allowPrivate);
  // A dot in the bucket name adds a label to the host name, which wildcard certificates do not cover.
  const isPathStyle = forcePathStyle ?? (endpoint !== undefined || !/^[a-z0-9-]+$/.test(bucket));
  const bucketUrl = new URL(service);
  if (isPathStyle) bucketUrl.pathname = `${bucketUrl.pathname.replace(/\/$/, '')}/${bucket}`;
  else bucketUrl.hostname = `${bucket}.${bucketUrl.hostname}`;
  const rules = { allowPrivate, isPlain: service.protocol === 'http:' };
  return { service: service.href, bucketUrl, isPathStyle, lookup: createLookup(rules) };
}

function defaultEndpoint(region: string): string {
  return `https://s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function toService(text: string, allowPrivate: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) throw invalid('endpoint', 'must be an http or https URL');
  if (url.username || url.password || url.search || url.hash) {
    throw invalid('endpoint', 'must be a URL without a user, a query or a fragment');
  }
  const host = canonicalHost(url.hostname);
  if (host === undefined) throw invalid('endpoint', 'must name a plain host');
  if (url.protocol === 'http:' && !allowPrivate) throw invalid('endpoint', 'must be an https URL');
  const rules = { allowPrivate, isPlain: url.protocol === 'http:' };
  const problem = isAddress(host) ? judgeAddress(host, rules) : undefined;
  if (problem !== undefined) throw invalid('endpoint', problem);
  return url;
}

function invalid(setting: string, problem: string): AppError {
  return new AppError('E_INVALID_INPUT', `${setting} ${problem}`, { details: { path: setting } });
}
