import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { ChainLink } from '../../core/accounts/ports/audit-chain.ts';
import type { AuditEntry, AuditRow } from '../../core/accounts/ports/call-tables.ts';
import { addon } from '../../disk/paths/native-addon.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { continuedAction, findTrailEnd, openNextFile, type TrailEnd } from './trail-end.ts';
import { listSegments, readTailOf, segmentPath, toLine } from './trail-segments.ts';

interface TrailAppenderOptions {
  readonly directory: string;
  hash(row: Omit<AuditRow, 'hash'>): string;
  /** Limit for all files together. The total may exceed it by an eighth for a moment. */
  readonly maxBytes: number;
}

const files = 8;

/**
 * Appends rows to an audit trail that other processes may also append to. When `append` returns, the rows are in the
 * file and survive a kill. Nothing is synced, so a power cut may lose the last rows.
 */
export function createTrailAppender({ directory, hash, maxBytes }: TrailAppenderOptions) {
  let [known, parent]: [TrailEnd | undefined, number | undefined] = [undefined, undefined];

  function appendLocked(entries: readonly AuditEntry[]): ChainLink {
    known = findTrailEnd(directory, known);
    if (known.torn.length > 0) known = write(known, [describeTorn(known.torn)], '\n');
    const isFull = known.size > maxBytes / files;
    if (isFull) known = openNextFile(directory, write(known, [ownEntry(continuedAction, {})]));
    known = write(known, [...(isFull ? dropOldest(directory) : []), ...entries]);
    return known.end;
  }

  /** Appends the entries with one write. */
  function write(to: TrailEnd, entries: readonly AuditEntry[], before = ''): TrailEnd {
    let [{ end }, text] = [to, before];
    for (const entry of entries) {
      const row = { ...entry, sequence: end.rows + 1, previous: end.hash };
      end = { rows: row.sequence, hash: hash(row) };
      text += toLine({ ...row, hash: end.hash });
    }
    const bytes = Buffer.from(text);
    const written = writeSync(to.handle, bytes);
    if (written < bytes.length) throw new Error('only a part of a row was written: the disk is full');
    return { ...to, size: to.size + written, end, torn: Buffer.alloc(0) };
  }

  function forget(): void {
    if (known) closeSync(known.handle);
    known = undefined;
  }

  return {
    /** Returns the new end of the chain, or `held` if another process holds the lock; nothing was appended then. */
    append(entries: readonly AuditEntry[]): ChainLink | 'held' {
      parent ??= openTrailDirectory(directory);
      using lock = takeLock(parent);
      if (lock === undefined) return 'held';
      try {
        return appendLocked(entries);
      } catch (thrown) {
        // The state of the file is unknown now: the next append reads its end again.
        forget();
        throw thrown;
      }
    },
    close(): void {
      forget();
      if (parent !== undefined) closeSync(parent);
      parent = undefined;
    },
  };
}

function openTrailDirectory(directory: string): number {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return openSync(directory, 'r');
}

/** `undefined` if another process holds the lock. Without the native addon there is no lock to take. */
function takeLock(directoryFd: number): Disposable | undefined {
  if (!addon) return { [Symbol.dispose]: () => {} };
  const handle = addon.lock(directoryFd, 'lock');
  if (handle === -constants.errno.EALREADY) return undefined;
  if (handle < 0) throw new Error('the directory of the trail was removed or cannot be locked');
  return { [Symbol.dispose]: () => closeSync(handle) };
}

/** Returns an entry that says which rows were dropped, so that nobody else can remove rows unnoticed. */
function dropOldest(directory: string): AuditEntry[] {
  const gone = listSegments(directory).slice(0, -files);
  const last = gone.map((one) => readTailOf(segmentPath(directory, one)).row?.sequence).at(-1);
  for (const one of gone) rmSync(segmentPath(directory, one), { force: true });
  return last === undefined ? [] : [ownEntry('audit.dropped', { upTo: last })];
}

function describeTorn(torn: Buffer): AuditEntry {
  return ownEntry('audit.torn', { bytes: torn.length, sha256: sha256(torn) });
}

function ownEntry(action: string, details: object): AuditEntry {
  const at = new Date().toISOString();
  return { accountId: '', at, actor: `pid ${process.pid}`, action, target: '', details: JSON.stringify(details) };
}
