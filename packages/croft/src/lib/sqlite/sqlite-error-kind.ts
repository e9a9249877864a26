/** Kinds of SQLite's errors that callers compare with: the lower eight bits of its error numbers. */
export const sqliteKinds = { busy: 5, locked: 6, diskFailed: 10, full: 13 } as const;

/** The shared index of the log could not grow: the first thing that fails on a full disk. */
const indexTooSmall = 4874;

/** Returns the error number of SQLite, or `undefined` for any other error. */
export function sqliteErrorNumber(thrown: unknown): number | undefined {
  const isNumbered = thrown instanceof Error && 'errcode' in thrown && typeof thrown.errcode === 'number';
  return isNumbered ? (thrown.errcode as number) : undefined;
}

/** Returns the kind of an error of SQLite, or `undefined` for any other error. */
export function sqliteErrorKind(thrown: unknown): number | undefined {
  const number = sqliteErrorNumber(thrown);
  if (number === undefined) return undefined;
  return number === indexTooSmall ? sqliteKinds.full : number & 0xff;
}

/** Whether another connection holds the database. */
export function isSqliteBusy(thrown: unknown): boolean {
  const kind = sqliteErrorKind(thrown);
  return kind === sqliteKinds.busy || kind === sqliteKinds.locked;
}
