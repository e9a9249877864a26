import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';

/** A key by its name. The first of a ring is the one new texts are sealed with; the others still open old ones. */
export interface RingKey {
  readonly id: string;
  /** 32 bytes. */
  readonly key: Buffer;
}

const version = 'c1';
const keyBytes = 32;

/**
 * Seals texts under AES-256-GCM: `c1.<key id>.<iv>.<tag>.<text>`, base64url. What a text is about is authenticated with
 * it, so that it opens nowhere else. Each use of a key has a key of its own, derived from it.
 */
export function createKeyring(keys: readonly RingKey[]) {
  const [current] = keys;
  if (!current) throw new RangeError('a ring has at least one key');
  for (const { id, key } of keys) {
    if (!/^[a-z0-9-]{1,32}$/.test(id)) throw new RangeError('a key id is letters, digits and hyphens');
    if (key.length !== keyBytes) throw new RangeError(`key ${id} is not ${keyBytes} bytes long`);
  }
  const sealing = new Map(keys.map(({ id, key }) => [id, deriveKey(key, 'croft seal')]));

  return {
    seal(text: string, about: string): string {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', mustHave(sealing, current.id), iv);
      cipher.setAAD(Buffer.from(`${version}.${current.id}\0${about}`));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return [version, current.id, ...[iv, cipher.getAuthTag(), sealed].map(encode)].join('.');
    },
    /** Throws a `RangeError` for what this ring did not seal for this. */
    open(sealed: string, about: string): string {
      const [given, id = '', iv = '', tag = '', text] = sealed.split('.');
      const key = sealing.get(id);
      if (given !== version || text === undefined) throw new RangeError('not a sealed text');
      if (!key) throw new RangeError(`sealed with key ${id}, which this server does not have`);
      const decipher = createDecipheriv('aes-256-gcm', key, decode(iv), { authTagLength: 16 });
      decipher.setAAD(Buffer.from(`${version}.${id}\0${about}`));
      decipher.setAuthTag(decode(tag));
      try {
        return Buffer.concat([decipher.update(decode(text)), decipher.final()]).toString('utf8');
      } catch (cause) {
        throw new RangeError('a sealed text was changed, or belongs elsewhere', { cause });
      }
    },
    isCurrent: (sealed: string): boolean => sealed.startsWith(`${version}.${current.id}.`),
    currentId: current.id,
  };
}

export type Keyring = ReturnType<typeof createKeyring>;

/** A token as it is looked up by: without the pepper, nobody can tell which token gives it. */
export function createTokenHash(pepper: Buffer): (token: string) => string {
  const key = deriveKey(pepper, 'croft token');
  return (token) => createHmac('sha256', key).update(token).digest('hex');
}

/** A key for one use alone: what is learned of it tells nothing of the others. */
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
