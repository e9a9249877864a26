import type { AccountEvent, AuditRecord } from '@croft/protocol';
import { applyRecord, applyStarted, type FeedRow } from './feed-row.ts';

/** Enough for a minute of 200 calls a second. */
const mostRows = 12_000;
/** Records that may still come a second time. */
const mostSeen = 4 * mostRows;

/** The rows of the feed, newest first. A call keeps its place in the list from its beginning to its end. */
export function createFeed() {
  let rows: FeedRow[] = [];
  /** Numbers of the rows: `newest` is that of `rows[0]`, and older rows count down. */
  const ordinals = new Map<string, number>();
  let newest = 0;
  const isNew = createNewcomers();
  const [agents, workspaces] = [new Set<string>(), new Map<string, Pick<FeedRow, 'workspace' | 'workspaceId'>>()];

  return {
    find,
    /** Everybody and everything that a row has named. */
    names: () => ({ agents, workspaces: workspaces.values() }),
    /** Takes the events of one frame. */
    add(events: readonly AccountEvent[]): readonly FeedRow[] {
      const fresh = new Map<string, FeedRow>();
      const findAny = (key: string) => fresh.get(key) ?? find(key);
      for (const event of events) {
        const row = toRow(event, findAny);
        if (row && !replace(row)) fresh.set(row.key, row);
      }
      for (const [key, row] of fresh) {
        ordinals.set(key, ++newest);
        noteNames(row);
      }
      rows = [...[...fresh.values()].reverse(), ...rows];
      for (const row of rows.splice(mostRows)) ordinals.delete(row.key);
      return rows;
    },
    /** Takes a page of older records, newest first. */
    addOlder(records: readonly AuditRecord[]): readonly FeedRow[] {
      rows = [...rows];
      for (const record of records.filter(isNew)) {
        const row = applyRecord(record, find);
        // The end of a call was read before its beginning.
        const placed = row && record.action === 'call.began' ? { ...row, at: record.at } : row;
        if (!placed || replace(placed)) continue;
        ordinals.set(placed.key, newest - rows.length);
        rows.push(placed);
        noteNames(placed);
      }
      return rows;
    },
  };

  function toRow(event: AccountEvent, findAny: (key: string) => FeedRow | undefined): FeedRow | undefined {
    if (event.type === 'call.started') return applyStarted(event, findAny);
    return event.type === 'audit' && isNew(event.record) ? applyRecord(event.record, findAny) : undefined;
  }

  function find(key: string): FeedRow | undefined {
    const ordinal = ordinals.get(key);
    return ordinal === undefined ? undefined : rows[newest - ordinal];
  }

  function replace(row: FeedRow): boolean {
    const ordinal = ordinals.get(row.key);
    if (ordinal === undefined) return false;
    rows[newest - ordinal] = row;
    return true;
  }

  function noteNames({ agentId, workspace, workspaceId }: FeedRow): void {
    agents.add(agentId);
    workspaces.set(`${workspace} ${workspaceId}`, { workspace, workspaceId });
  }
}

/** A record may come twice: by the list, and by the stream. */
function createNewcomers() {
  const seen = new Set<string>();
  return ({ hash }: AuditRecord): boolean => {
    if (seen.has(hash)) return false;
    seen.add(hash);
    if (seen.size > mostSeen) for (const oldest of [...seen].slice(0, mostSeen / 2)) seen.delete(oldest);
    return true;
  };
}
