import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { workspaceFile } from './local-trees.ts';

/** Number of notes in a history, by reason. */
export interface NoteCounts {
  /** Snapshots that people or agents asked for. They stay until somebody deletes them. */
  readonly named: number;
  /** Snapshots before restores and merges. They are deleted with age. */
  readonly automatic: number;
  /** Checkpoints, by which single calls can be undone. They are deleted with age. */
  readonly checkpoints: number;
  /** When the oldest checkpoint was made. */
  readonly since?: string;
}

const sql = `SELECT
  sum(kind = 'snapshot' AND coalesce(json_extract(note, '$.isAutomatic'), 0) = 0) AS named,
  sum(kind = 'snapshot' AND coalesce(json_extract(note, '$.isAutomatic'), 0) = 1) AS automatic,
  sum(kind = 'checkpoint') AS checkpoints,
  min(CASE kind WHEN 'checkpoint' THEN json_extract(note, '$.at') END) AS since
  FROM notes`;

/** Counts the notes in a history directory, which a server may have open. Returns `undefined` if it cannot be read. */
export function countNotes(history: string): NoteCounts | undefined {
  try {
    using database = new DatabaseSync(join(history, 'history.db'), { readOnly: true, timeout: 1000 });
    const { named, automatic, checkpoints, since } = database.prepare(sql).get() ?? {};
    const counts = { named: Number(named), automatic: Number(automatic), checkpoints: Number(checkpoints) };
    return typeof since === 'string' ? { ...counts, since } : counts;
  } catch {
    return undefined;
  }
}

/** Returns the workspace directory that a history directory belongs to, or `undefined` if that was not recorded. */
export function workspaceOf(history: string): string | undefined {
  try {
    return readFileSync(join(history, workspaceFile), 'utf8').trimEnd();
  } catch {
    return undefined;
  }
}
