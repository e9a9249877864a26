import { isIPv6 } from 'node:net';
import { AppError } from '@croft/protocol';
import { createTokenBuckets } from './token-buckets.ts';

export type UnauthorizedLimiter = ReturnType<typeof createUnauthorizedLimiter>;

/**
 * Limits unauthenticated requests per address. A known key is never limited here: behind a proxy all clients have the
 * same address, and nobody may lock out the others by guessing.
 */
export function createUnauthorizedLimiter(perMinute: number, now: () => number) {
  const buckets = createTokenBuckets({ perMinute: () => perMinute, now });
  return {
    judge(refusal: AppError, env: unknown): AppError {
      const seconds = buckets.take(toCaller(addressIn(env)));
      if (seconds === 0) return refusal;
      return new AppError('E_RATE_LIMITED', 'too many requests from this address without a key that is known', {
        details: { retryAfterSeconds: seconds },
      });
    },
  };
}

/** One customer of a provider usually has a whole /64. */
function toCaller(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const [before, after] = [toGroups(head), toGroups(tail ?? '')];
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - before.length - after.length }, () => '0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

function toGroups(text: string): string[] {
  return text === '' ? [] : text.split(':');
}

/** The bindings that the Node adapter passes on with each request. */
function addressIn(env: unknown): string {
  const { incoming } = (env ?? {}) as { incoming?: { socket?: { remoteAddress?: string } } };
  return incoming?.socket?.remoteAddress ?? 'unknown';
}
