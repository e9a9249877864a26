import { join } from 'node:path';
import { createHeadSeal } from '../../core/accounts/audit/audit-head.ts';
import { createSignedAuditHead } from '../../core/accounts/audit/signed-audit-head.ts';
import { type AuditVerdict, type ExpectedHead, verifyAudit } from '../../core/accounts/audit/verify-audit.ts';
import { createKeyedHash } from '../../core/accounts/ports/audit-chain.ts';
import type { AuditEntry, AuditRow } from '../../core/accounts/ports/call-tables.ts';
import type { RingKey } from '../../lib/crypto/keyring.ts';
import { createSigningRing } from '../../lib/crypto/signing-ring.ts';
import { readFileIfPresent, replacePrivateFileAsync } from '../../lib/files/private-file.ts';
import { createTrailAppender, createTrailReader, DamagedTrail, readTrail, tornAtEnd } from '../../storages/index.ts';

interface LocalAuditTrailOptions {
  readonly data: string;
  readonly ring: readonly RingKey[];
  /** The trail's maximum size. Older rows are dropped. */
  readonly maxBytes: number;
}

export type LocalAuditTrail = ReturnType<typeof openLocalAuditTrail>;

const now = () => new Date();

/**
 * The audit trail of calls in workspaces that flags name: a hash chain in `<data>/local-audit`, with its signed head in
 * the same directory.
 */
export function openLocalAuditTrail({ data, ring, maxBytes }: LocalAuditTrailOptions) {
  const directory = join(data, 'local-audit');
  const hash = createKeyedHash(createSigningRing(ring, 'croft local audit'));
  const seal = createHeadSeal(createSigningRing(ring, 'croft local audit head'));
  const name = join(directory, 'head');
  const write = (text: string) => replacePrivateFileAsync(name, `${text}\n`);
  const head = createSignedAuditHead(seal, { name, read: () => readFileIfPresent(name), write }, now);
  const { append, close } = createTrailAppender({ directory, hash: hash.hash, maxBytes });

  return {
    append,
    close,
    /** Reads rows from any position. */
    reader: createTrailReader(directory),
    /** Stores the last row of the trail in the signed head. */
    advance: (to: Exclude<ReturnType<typeof append>, 'held'>) => {
      if (!head.get()) head.load();
      return head.advance(to);
    },
    head: (): string | undefined => readFileIfPresent(name)?.trim(),
    async *rows(): AsyncGenerator<AuditRow> {
      for await (const page of readTrail(directory)) yield* page;
    },
    async verify(others: readonly { name: string; text: string }[] = []): Promise<AuditVerdict> {
      const text = readFileIfPresent(name);
      const own = text === undefined ? [] : [{ name: 'the head', text }];
      const heads = [...own, ...others].map((one) => ({ name: one.name, head: seal.open(one.text) }));
      return verifyLocal(directory, heads, hash);
    },
    /** The operator accepts the trail as it is now. A row in the trail records it. */
    async accept(): Promise<void> {
      const details = JSON.stringify({ before: readFileIfPresent(name)?.trim() });
      const entry: AuditEntry = {
        ...{ accountId: '', at: now().toISOString(), actor: 'operator', action: 'audit.anchored' },
        ...{ target: 'local-audit/head', details },
      };
      const end = append([entry]);
      if (end === 'held')
        throw new Error('another process is writing to the trail now: run this again when it is done');
      await head.restart(end);
    },
  };
}

async function verifyLocal(
  directory: string,
  heads: readonly ExpectedHead[],
  hash: ReturnType<typeof createKeyedHash>,
): Promise<AuditVerdict> {
  const seen = createRowTracker();
  try {
    const verdict = await verifyAudit(seen.watch(readTrail(directory)), heads, hash, seen.start);
    const problems = verdict.broken ? [] : seen.problems();
    const torn = tornAtEnd(directory);
    const cut = `what the last ${torn} bytes would have said: a crash, or a full disk, cut off a row at the end`;
    return {
      ...verdict,
      isWhole: verdict.isWhole && problems.length === 0,
      problems: [...verdict.problems, ...problems],
      cannotShow: [...verdict.cannotShow, ...(torn > 0 ? [cut] : [])],
    };
  } catch (thrown) {
    if (!(thrown instanceof DamagedTrail)) throw thrown;
    const broken = { row: thrown.row, reason: thrown.message };
    return { isWhole: false, rows: thrown.row, older: 0, broken, problems: [], shows: [], cannotShow: [] };
  }
}

/** Tracks which rows exist, and which rows the trail itself says it dropped. */
function createRowTracker() {
  let first: AuditRow | undefined;
  const dropped = new Set<number>();
  return {
    /** The start of the chain. Known after the first row was read. */
    start: () => (first && first.sequence > 1 ? { rows: first.sequence - 1, hash: first.previous } : undefined),
    async *watch(pages: AsyncIterable<readonly AuditRow[]>): AsyncGenerator<readonly AuditRow[]> {
      for await (const page of pages) {
        first ??= page[0];
        for (const { action, details } of page)
          if (action === 'audit.dropped') dropped.add(Number(/"upTo":(\d+)/.exec(details)?.[1] ?? 0));
        yield page;
      }
    },
    problems(): string[] {
      const missing = (first?.sequence ?? 1) - 1;
      if (missing === 0 || dropped.has(missing)) return [];
      return [`rows 1 to ${missing} are gone, and no row says that they were dropped to make room`];
    },
  };
}
