import { createToEntry, toEndEntries } from '../../core/accounts/audit/audit-journal.ts';
import type { AuditEntry } from '../../core/accounts/ports/call-tables.ts';
import type { CallJournal } from '../../core/events/call-journal.ts';
import { createCoalescingQueue } from '../../lib/concurrency/coalescing-queue.ts';
import { once } from '../../lib/concurrency/once.ts';
import type { LocalAuditTrail } from './local-audit-trail.ts';

interface LocalJournalOptions {
  /** Called with the first tool call. */
  open(): Promise<LocalAuditTrail>;
  /** Maps the workspace names in the rows to directories. */
  readonly workspaces: Readonly<Record<string, string>>;
  onWarning(message: string): void;
}

/** Somebody who follows the trail. */
interface JournalWatcher {
  /** Rows of this process were added. */
  onRows(): void;
  onStarted(session: string, fields: Readonly<Record<string, unknown>>, call: string): void;
}

export interface LocalCallJournal extends CallJournal, AsyncDisposable {
  trail(): Promise<LocalAuditTrail>;
  /** Adds a watcher, for as long as the journal is open. */
  watch(watcher: JournalWatcher): void;
}

/** Rows are written in batches: written one by one, they would take a third of the time of a small write. */
const batchMs = 5;
const headMs = 1000;
const waitMs = 1000;
const maxWaiting = 1000;

/**
 * Records calls in workspaces that flags name in their audit trail. No call waits for its rows: they reach the file
 * some milliseconds later, and a kill in between loses them. If the trail cannot be written, calls still run: the
 * operator is warned, rows wait in memory, and a later row says how many were lost.
 */
export function createLocalCallJournal({ open, workspaces, onWarning }: LocalJournalOptions): LocalCallJournal {
  const toEntry = createToEntry('', `pid ${process.pid}`, () => new Date());
  const waiting: AuditEntry[] = [toEntry('', 'process.began', { workspaces })];
  const opened = once(open);
  const watchers = createWatchers();
  const heads = createCoalescingQueue(headMs, (thrown) =>
    onWarning(`the head of the audit trail was not written: ${thrown}`),
  );
  let [lost, isWarned, hasHead] = [0, false, false];
  let timer: NodeJS.Timeout | undefined;
  let advance = async () => {};

  /** Returns false if another process is writing. */
  function write(trail: LocalAuditTrail): boolean {
    if (waiting.length === 0) return true;
    const loss = lost === 0 ? [] : [toEntry('', 'audit.lost', { rows: lost })];
    const end = trail.append([...loss, ...waiting]);
    if (end === 'held') return false;
    waiting.length = 0;
    [lost, isWarned] = [0, false];
    advance = () => trail.advance(end);
    if (hasHead) heads.later(() => advance());
    else void heads.run(() => advance());
    hasHead = true;
    watchers.onRows();
    return true;
  }

  /** Never throws: a call runs even if it cannot be recorded. */
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    try {
      const trail = await opened();
      const endsAt = performance.now() + waitMs;
      while (!write(trail)) {
        if (performance.now() > endsAt) throw new Error('another process has locked it');
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    } catch (thrown) {
      if (!isWarned) onWarning(`the audit trail of calls cannot be written: ${thrown}`);
      isWarned = true;
      const excess = Math.max(0, waiting.length - maxWaiting);
      waiting.splice(0, excess);
      lost += excess;
    }
  }

  function enqueue(entries: readonly AuditEntry[]): void {
    waiting.push(...entries);
    timer ??= setTimeout(() => void flush(), batchMs).unref();
  }

  return {
    trail: opened,
    ...{ watch: watchers.add, started: watchers.onStarted },
    began: async (session, fields, call) => enqueue([toEntry(session, 'call.began', { ...fields, call })]),
    ended: async (session, fields, violations, call) =>
      enqueue(toEndEntries(toEntry, session, { ...fields, call }, violations)),
    async [Symbol.asyncDispose]() {
      // A process that made no call writes nothing.
      if (waiting.length === 1 && waiting[0]?.action === 'process.began') return;
      await flush();
      await heads.run(() => advance());
      (await opened().catch(() => undefined))?.close();
    },
  };
}

function createWatchers() {
  const all: JournalWatcher[] = [];
  return {
    add: (watcher: JournalWatcher) => void all.push(watcher),
    onRows: () => all.forEach(({ onRows }) => void onRows()),
    onStarted: (...call: Parameters<JournalWatcher['onStarted']>) =>
      all.forEach(({ onStarted }) => void onStarted(...call)),
  };
}
