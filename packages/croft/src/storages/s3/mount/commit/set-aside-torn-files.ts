import { readFileSync } from 'node:fs';
import type { PathChange } from '../../../../core/history/ports/tree.ts';
import { keyOfPath } from '../../layout/object-keys.ts';
import { findLocalChanges } from '../working-copy/local-changes.ts';
import type { MountContext } from '../working-copy/mount-context.ts';
import type { Conflict } from './conflicts.ts';
import { keepBothVersions } from './keep-both-versions.ts';

export function readBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/**
 * Moves aside every local file that may be torn after a crash of the machine. Files that commands wrote were not
 * synced, so they may be empty, cut or missing. They must not replace what is in the bucket: each file that differs
 * from the bucket and was not synced goes beside it as a conflict copy, and missing files are fetched again.
 */
export async function setAsideTornFiles(context: MountContext, signal?: AbortSignal): Promise<Conflict[]> {
  const { changes } = await findLocalChanges(context, signal);
  const waiting = context.manifest.waiting();
  const conflicts: Conflict[] = [];
  for (const change of changes.filter((one) => !isTrusted(one, waiting))) {
    const key = keyOfPath(change.path) ?? '';
    const { after: entry, path } = change;
    const known = context.manifest.get(key);
    const conflict = known && (await keepBothVersions(context, { key, path, entry, known }, signal));
    if (conflict && entry) conflicts.push(conflict);
  }
  return conflicts;
}

function isTrusted({ path, before, after }: PathChange, waiting: ReadonlyMap<string, string>): boolean {
  if (!before || before.kind === 'directory' || after?.kind === 'directory') return true;
  return waiting.get(keyOfPath(path) ?? '') === (after?.hash ?? '');
}
