import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomFillSync,
} from 'node:crypto';
import { deriveCached, type KeyringSource, toKeyringSource } from './keyring-source.ts';

/** A named key. The first key of a ring seals new texts; the others still open old ones. */
export interface RingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const version = 'c1';
const keyBytes = 32;
const ivBytes = 12;
const ivsAtOnce = 256;

/**
 * Seals texts with AES-256-GCM as `c1.<key id>.<iv>.<tag>.<text>`, in base64url. `about` is authenticated with the
 * text, so that a sealed text opens only for the purpose it was sealed for. Sealing uses its own key, derived from the
 * key of the ring.
 */
export function createKeyring(ring: readonly RingKey[] | KeyringSource) {
  const source = toKeyringSource(ring);
  const sealing = deriveCached(source, toSealing);
  const takeIv = createIvs();

  /** Finds a key by id. The keys are read again before an unknown id fails, because it may have been added since. */
  function find(id: string): KeyObject {
    if (!sealing().keys.has(id)) source.refresh();
    const key = sealing().keys.get(id);
    if (!key) throw new RangeError(`sealed with key ${id}, which this server does not have`);
    return key;
  }

  return {
    seal(text: string, about: string): string {
      const { current, keys } = sealing();
      const iv = takeIv();
      const cipher = createCipheriv('aes-256-gcm', mustHave(keys, current), iv);
      cipher.setAAD(Buffer.from(`${version}.${current}\0${about}`));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [version, current, ...[iv, cipher.getAuthTag(), sealed].map(encode)].join('.');
    },
    /** Throws a `RangeError` for a text that this ring did not seal for `about`. */
    open(sealed: string, about: string): string {
      const [given, id = '', iv = '', tag = '', text] = sealed.split('.');
      if (given !== version || text === undefined) throw new RangeError('not a sealed text');
      const decipher = createDecipheriv('aes-256-gcm', find(id), decode(iv), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(`${version}.${id}\0${about}`));
      decipher.setAuthTag(decode(tag));
      try {
        return Buffer.concat([decipher.update(decode(text)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new RangeError('a sealed text was changed, or belongs elsewhere', { cause });
      }
    },
    isCurrent: (sealed: string): boolean => sealed.startsWith(`${version}.${sealing().current}.`),
  };
}

/** Every text has an IV of its own. Random bytes are drawn for many IVs at once, because drawing takes long. */
function createIvs(): () => Buffer {
  const drawn = Buffer.alloc(ivBytes * ivsAtOnce);
  let at = drawn.length;
  return () => {
    if (at === drawn.length) {
      randomFillSync(drawn);
      at = 0;
    }
    at += ivBytes;
    return drawn.subarray(at - ivBytes, at);
  };
}

/** Uses key objects, because sealing with raw key bytes takes three times as long. */
function toSealing(keys: readonly RingKey[]) {
  const [current] = keys;
  if (!current) throw new RangeError('a ring has at least one key');
  for (const { id, key } of keys) {
    if (!/^[a-z0-9-]{1,32}$/.test(id)) throw new RangeError('a key id is letters, digits and hyphens');
    if (key.length !== keyBytes) throw new RangeError(`key ${id} is not ${keyBytes} bytes long`);
  }
  const toKey = (key: Buffer) => createSecretKey(deriveKey(key, 'croft seal'));
  return { current: current.id, keys: new Map(keys.map(({ id, key }) => [id, toKey(key)])) };
}

export type Keyring = ReturnType<typeof createKeyring>;

/**
 * Creates the function that hashes a token for lookup. Without the pepper, nobody can tell which token gives a hash.
 */
export function createTokenHash(pepper: Buffer): (token: string) => string {
  // A key object, because hashing with raw key bytes takes five times as long.
  const key = createSecretKey(deriveKey(pepper, 'croft token'));
  return (token) => createHmac('sha256', key).update(token).digest('hex');
}

/** Derives a key for one use; knowing it reveals nothing about the keys of other uses. */
export function deriveKey(key: Buffer, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', use, keyBytes));
}

function mustHave<Value>(map: ReadonlyMap<string, Value>, key: string): Value {
  const value = map.get(key);
  if (value === undefined) throw new RangeError(`there is no key ${key}`);
  return value;
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64url');
}

function decode(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}
