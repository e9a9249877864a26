import { randomBytes } from 'node:crypto';
import { createKeyedHash } from '../packages/croft/src/core/accounts/ports/audit-chain.ts';
import type { AuditEntry, SessionRow } from '../packages/croft/src/core/accounts/ports/call-tables.ts';
import type { Records } from '../packages/croft/src/core/accounts/ports/records.ts';
import { createSigningRing } from '../packages/croft/src/lib/crypto/signing-ring.ts';
import { openRecords } from '../packages/croft/src/records/index.ts';

/** A command to the process: make calls until `seconds` have passed. */
export interface AuditTurn {
  readonly seconds: number;
  readonly sessions: number;
}

const [url = '', name = ''] = process.argv.slice(2);
const key = Buffer.from(process.env.BENCH_AUDIT_KEY ?? '', 'hex');
const hash = createKeyedHash(createSigningRing([{ id: 'bench', key }], 'bench'));
const records = await openRecords({ url, audit: hash });
let made = 0;

process.on('message', async ({ seconds, sessions }: AuditTurn) => {
  const endAt = performance.now() + seconds * 1000;
  const counts = await Promise.all(Array.from({ length: sessions }, () => work(records, endAt)));
  process.send?.({ calls: counts.reduce((sum, count) => sum + count, 0) });
});
process.once('disconnect', () => void records[Symbol.asyncDispose]());
process.send?.('ready');

/** One session: each call waits until its beginning is stored, and then until its end and the session are. */
async function work({ change, recordCall }: Records, endAt: number): Promise<number> {
  let row = toSession(`${name}-${++made}`);
  await change(({ sessions }) => sessions.put(row));
  let calls = 0;
  for (; performance.now() < endAt; calls += 1) {
    const callId = randomBytes(16).toString('hex');
    const began = { callId, serverId: name, accountId: name, actor: `agent ${row.session}`, tool: 'write' };
    await recordCall({ entries: [toEntry('call.began', row, callId)], began });
    row = { ...row, version: row.version + 1 };
    const end = recordCall({ entries: [toEntry('call.ended', row, callId)], ended: callId });
    const stored = await Promise.all([end, recordCall({ session: row })]);
    if (!stored.every(Boolean)) throw new Error('a session was not stored');
  }
  return calls;
}

/** As large as the row of a real call. */
function toEntry(action: string, { session }: SessionRow, call: string): AuditEntry {
  const fields = { tool: 'write', workspace: 'bench', session, workspaceId: 'ws_bench', title: 'x'.repeat(90), call };
  const at = new Date().toISOString();
  return { accountId: name, at, actor: `agent ${session}`, action, target: 'write', details: JSON.stringify(fields) };
}

function toSession(session: string): SessionRow {
  const reads = Array.from({ length: 20 }, (_, index) => ['bench', `src/file-${index}.ts`, 'h'.repeat(64)]);
  const state = JSON.stringify({ depth: 0, reads, shells: [] });
  const usedAt = new Date().toISOString();
  return { accountId: name, agentId: 'agent', session, state, usedAt, version: 1, serverId: name };
}
