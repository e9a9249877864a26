import { readFileSync } from 'node:fs';
import type { PathChange } from '../../core/history/tree.ts';
import { keepBoth } from './clashes.ts';
import type { Conflict } from './conflicts.ts';
import type { Ground } from './ground.ts';
import { keyOf } from './keys.ts';
import { findLocalChanges } from './local-changes.ts';

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/**
 * After the machine went down a file may be empty, cut or missing that was whole before: what commands write is not
 * synced. Nothing of that may replace what is in the bucket, so that whatever differs from it, and was not made durable
 * here, goes beside it, and what is missing comes back.
 */
export async function distrust(ground: Ground, signal?: AbortSignal): Promise<Conflict[]> {
  const { changes } = await findLocalChanges(ground, signal);
  const waiting = ground.manifest.waiting();
  const conflicts: Conflict[] = [];
  for (const change of changes.filter((one) => !isTrusted(one, waiting))) {
    const key = keyOf(change.path) ?? '';
    const { after: entry, path } = change;
    const known = ground.manifest.get(key);
    const conflict = known && (await keepBoth(ground, { key, path, entry, known }, signal));
    if (conflict && entry) conflicts.push(conflict);
  }
  return conflicts;
}

function isTrusted({ path, before, after }: PathChange, waiting: ReadonlyMap<string, string>): boolean {
  if (!before || before.kind === 'directory' || after?.kind === 'directory') return true;
  return waiting.get(keyOf(path) ?? '') === (after?.hash ?? '');
}
