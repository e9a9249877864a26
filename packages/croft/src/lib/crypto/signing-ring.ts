import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { deriveKey, type RingKey } from './keyring.ts';
import { deriveCached, type KeyringSource, toKeyringSource } from './keyring-source.ts';

type SignatureCheck = 'valid' | 'invalid' | 'unknown key';

/**
 * Signs texts with the first key of a ring, by HMAC-SHA-256: `<key id>.<64 hex digits>`. Signatures by the other keys
 * stay valid, so that a new key can be put first at any time. `use` prevents a signature for one use from being
 * accepted for another.
 */
export function createSigningRing(ring: readonly RingKey[] | KeyringSource, use: string) {
  const source = toKeyringSource(ring);
  const signing = deriveCached(source, (keys) => toSigning(keys, use));
  return {
    sign(text: string): string {
      const [id, key] = signing().current;
      return `${id}.${createHmac('sha256', key).update(text).digest('hex')}`;
    },
    check(text: string, signature: string): SignatureCheck {
      const [id = '', given = '', ...rest] = signature.split('.');
      if (!signing().keys.has(id)) source.refresh();
      const key = signing().keys.get(id);
      if (!/^[0-9a-f]{64}$/.test(given) || rest.length > 0) return 'invalid';
      if (!key) return 'unknown key';
      return timingSafeEqual(hmac(key, text), Buffer.from(given, 'hex')) ? 'valid' : 'invalid';
    },
  };
}

/** Uses key objects, because signing with raw key bytes takes five times as long. */
function toSigning(ring: readonly RingKey[], use: string) {
  const keys = new Map(ring.map(({ id, key }) => [id, createSecretKey(deriveKey(key, use))]));
  const [current] = keys;
  if (!current) throw new RangeError('a ring has at least one key');
  return { current, keys };
}

export type SigningRing = ReturnType<typeof createSigningRing>;

function hmac(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
