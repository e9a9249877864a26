import { createCoalescingQueue } from '../../../lib/concurrency/coalescing-queue.ts';
import { type ChainLink, chainStart, isKeyed } from '../ports/audit-chain.ts';
import type { Records } from '../ports/records.ts';
import type { HeadSeal } from './audit-head.ts';
import { type AuditHeadStore, createSignedAuditHead } from './signed-audit-head.ts';

interface AuditAnchorOptions {
  readonly seal: HeadSeal;
  readonly store: AuditHeadStore;
  readonly now: () => Date;
  onWarning(message: string): void;
  /** Delay before the head is written, so that calls in quick succession cause one write. */
  readonly delayMs?: number | undefined;
}

type Rows = Pick<Records, 'read'>;

const defaultDelayMs = 250;
const advice = 'Look into it; `croft audit verify` fails until `croft audit anchor` accepts the trail as it is';
const isNew = 'is created now and does not notice earlier deletions. The audit trail ends at row';

const rowsOf = (link: ChainLink | undefined) => link?.rows ?? 0;

/**
 * Stores the head of the audit trail (row count and last hash) outside of the database. Rows deleted at the end leave a
 * valid chain, but it no longer contains this head. The head only advances, and only along the chain that it has seen.
 * If the chain no longer contains the head, the anchor warns, and the head stays frozen until an operator accepts the
 * trail.
 */
export function createAuditAnchor({ seal, store, now, onWarning, delayMs = defaultDelayMs }: AuditAnchorOptions) {
  const head = createSignedAuditHead(seal, store, now);
  /** The end of the trail that this process saw last. */
  let seen: ChainLink | undefined;
  let state: 'unread' | 'follows' | 'stopped' = 'unread';
  /** Whether other servers wrote rows since the head was written. If so, the head is looked up in the rows. */
  let hasGap = false;
  const writing = createCoalescingQueue(delayMs, (thrown) => onWarning(`${store.name} was not written: ${thrown}`));
  /** Writes the head if it has changed. Never throws: a later head is written instead. */
  const flush = (rows: Rows) => writing.run(() => write(rows));

  return { onStored, check, flush, accept, read: () => store.read() };

  function load(): void {
    const isOurs = head.load();
    if (!isOurs && state === 'unread') onWarning(`${store.name} was not signed with a key of this server. ${advice}`);
    state = isOurs && !head.get()?.cut ? 'follows' : 'stopped';
    if (state === 'follows') seen = head.get();
  }

  /** Called after rows were appended: `from` is the end of the trail before, `to` the new end. */
  function onStored(rows: Rows, from: ChainLink, to: ChainLink): void {
    if (state === 'unread') load();
    if (seen && state === 'follows' && isBehind(from, seen)) return void writing.run(() => checkSeen(rows, to));
    if (state === 'stopped') return;
    [hasGap, seen] = [hasGap || from.rows !== rowsOf(seen), to];
    // The first head is written at once: a server that is killed soon after must not leave rows without a head.
    void (head.get() ? writing.later(() => write(rows)) : flush(rows));
  }

  /** `check` saw later rows than these, between their commit and their report; or the trail was cut and continued. */
  async function checkSeen(rows: Rows, found: ChainLink): Promise<void> {
    return seen && !(await rowExists(rows, seen)) ? stop(seen, found) : write(rows);
  }

  async function write(rows: Rows): Promise<void> {
    const [end, before] = [seen, head.get()];
    if (state !== 'follows' || !end || end.rows === 0 || end.rows === before?.rows) return;
    if (hasGap && before && !(await rowExists(rows, before))) return stop(before, end);
    hasGap = false;
    await head.advance(end);
  }

  /** Reads the rows of other servers, and checks that the last known row is still there. */
  async function check(rows: Rows): Promise<void> {
    if (state !== 'follows') load(); // The operator may have accepted what is there.
    if (state === 'stopped') return;
    const [before, last] = [seen, await readLast(rows)];
    if (!before && isKeyed(last)) onWarning(`${store.name} ${isNew} ${last.rows}`);
    if (before && !(await rowExists(rows, before))) stop(before, last);
    else if (last.rows > rowsOf(seen)) [seen, hasGap] = [last, true];
    await flush(rows);
  }

  /** The operator accepts the trail as it is now. */
  async function accept(rows: Rows): Promise<void> {
    // Waits for a pending write, which would overwrite the new head.
    await writing.run(async () => {});
    const last = await readLast(rows);
    await head.restart(last);
    [seen, state] = [last, 'follows'];
  }

  function stop(gone: ChainLink, found: ChainLink): void {
    state = 'stopped';
    onWarning(`${describeCut(gone, found)}. ${advice}`);
    void writing.run(() => head.freeze(gone, found));
  }
}

async function readLast(rows: Rows): Promise<ChainLink> {
  return (await rows.read(({ audit }) => audit.last())) ?? chainStart;
}

async function rowExists(rows: Rows, { rows: sequence, hash }: ChainLink): Promise<boolean> {
  const page = { limit: 1, after: String(sequence - 1) };
  const [row] = (await rows.read(({ audit }) => audit.list({}, page))).rows;
  return row?.sequence === sequence && row.hash === hash;
}

function describeCut(gone: ChainLink, found: ChainLink): string {
  return `the audit trail was cut: row ${gone.rows} is missing or different, and ${found.rows} rows are left`;
}

function isBehind(from: ChainLink, seen: ChainLink): boolean {
  return from.rows < seen.rows || (from.rows === seen.rows && from.hash !== seen.hash);
}
