import { newSecret } from '../../../lib/ids.ts';
import type { BrowserSessionRow } from '../ports/account-tables.ts';
import type { Records } from '../ports/records.ts';
import type { Vault } from '../ports/vault.ts';

/** The key of a browser session. */
export interface SessionHolder {
  readonly accountId: string;
  /** The id of a key, or the fingerprint of a token of the server. */
  readonly keyId: string;
}

interface BrowserSessionsOptions {
  readonly records: Records;
  readonly vault: Vault;
  readonly now: () => Date;
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>;

interface FoundSession extends SessionHolder {
  readonly expiresAt: string;
}

const minuteMs = 60_000;
const idleMs = 12 * 60 * minuteMs;
const lastsMs = { session: 7 * 24 * 60 * minuteMs, link: minuteMs };
/** A use is recorded when the last one is this long ago. */
const noteMs = 10 * minuteMs;
/** Sessions and links of one key. More end the oldest. */
const perKey = 100;
const prefixes = { session: 'session_', link: 'once_' };
const maxSecretLength = 100;

/** Whether a bearer token is the code of a sign-in link. */
export function isLinkCode(token: string): boolean {
  return token.startsWith(prefixes.link);
}

/**
 * Sessions of browsers, in the records of the server: the cookie is worth nothing when the session has ended. Only
 * hashes are stored, as of keys.
 */
export function createBrowserSessions({ records, vault, now }: BrowserSessionsOptions) {
  return {
    /** Opens a session, or makes the code of a sign-in link. The secret is answered this once. */
    async open(holder: SessionHolder, purpose: BrowserSessionRow['purpose']) {
      const secret = newSecret(prefixes[purpose]);
      const row = toRow(holder, purpose, vault.hash(secret), now());
      await records.change(async ({ browserSessions }) => {
        await browserSessions.insert(row);
        await browserSessions.removeAllBut(row.accountId, row.keyId, perKey);
      });
      return { secret, expiresAt: row.expiresAt };
    },

    /** Returns the key of a session that is not over, and notes the use. */
    async find(secret: string): Promise<FoundSession | undefined> {
      const row = await read(secret);
      if (row?.purpose !== 'session' || isOver(row, now())) return undefined;
      if (now().getTime() - Date.parse(row.usedAt) > noteMs)
        await records.change(({ browserSessions }) => browserSessions.use(row.hash, now().toISOString()));
      return row;
    },

    /** Redeems the code of a sign-in link. Of many who try at once, on any server, one gets it. */
    async redeem(code: string): Promise<FoundSession | undefined> {
      const row = await read(code);
      if (row?.purpose !== 'link') return undefined;
      const isOurs = await records.change(({ browserSessions }) => browserSessions.remove(row.hash));
      return isOurs && !isOver(row, now()) ? row : undefined;
    },

    async end(secret: string): Promise<void> {
      const row = await read(secret);
      if (row) await records.change(async ({ browserSessions }) => void (await browserSessions.remove(row.hash)));
    },
  };

  async function read(secret: string): Promise<BrowserSessionRow | undefined> {
    if (secret === '' || secret.length > maxSecretLength) return undefined;
    const hash = vault.hash(secret);
    return records.glance(({ browserSessions }) => browserSessions.byHash(hash));
  }
}

function toRow(
  { accountId, keyId }: SessionHolder,
  purpose: BrowserSessionRow['purpose'],
  hash: string,
  at: Date,
): BrowserSessionRow {
  const time = at.toISOString();
  const expiresAt = new Date(at.getTime() + lastsMs[purpose]).toISOString();
  return { hash, purpose, accountId, keyId, createdAt: time, usedAt: time, expiresAt };
}

function isOver({ usedAt, expiresAt }: BrowserSessionRow, now: Date): boolean {
  const at = now.getTime();
  return at >= Date.parse(expiresAt) || at >= Date.parse(usedAt) + idleMs;
}
