import { lookup as lookUp } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { AppError } from '@croft/protocol';
import { canonicalHost, isAddress } from '../../../lib/net/host-name.ts';
import { parseAddress } from '../../../lib/net/ip-address.ts';
import { listOwnAddresses, specialRangesOf, unwrapAddress } from '../../../lib/net/special-ip-ranges.ts';

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

interface AddressRules {
  readonly allowPrivate: boolean;
  readonly isPlain: boolean;
}

const openable = new Set(['a loopback address', 'a private address', 'a carrier-grade NAT address']);

/**
 * Returns why a connection to this address is not allowed, or `undefined`. The text completes the sentence "the
 * endpoint …".
 */
export function judgeAddress(address: string, { allowPrivate, isPlain }: AddressRules): string | undefined {
  const parsed = parseAddress(address);
  if (parsed === undefined) return 'leads to no address';
  const actual = unwrapAddress(parsed);
  const [special] = specialRangesOf(actual);
  if (special && !(allowPrivate && openable.has(special.kind))) return `leads to ${special.kind}`;
  if (!special && isPlain) return 'must be an https URL, because it leads to a public address';
  const isOwn = listOwnAddresses().some((own) => parseAddress(own) === actual);
  return isOwn && !allowPrivate ? 'leads to this machine itself' : undefined;
}

/** The host resolves only to addresses that are not allowed. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Looks names up like the system does, and leaves out addresses that are not allowed. */
function createLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const allowed = addresses.filter(({ address }) => judgeAddress(address, rules) === undefined);
      const [first] = allowed;
      if (!first) return callback(new RefusedAddress(judgeAddress(addresses[0]?.address ?? '', rules)), []);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

function invalid(setting: string, problem: string): AppError {
  return new AppError('E_INVALID_INPUT', `${setting} ${problem}`, { details: { path: setting } });
}
