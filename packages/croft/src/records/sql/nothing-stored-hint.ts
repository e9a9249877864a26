/** Hint for a failure before a change was committed. */
export const nothingStoredHint = 'Nothing was stored. Try again in a moment; if it keeps failing, tell the operator.';

/** Hint for a full disk of the database. Callers do not know that disk, and cannot free it for certain. */
export const databaseFullHint =
  'Nothing was stored. The operator can free space on that disk. Try again in a moment; if it keeps failing, tell the operator.';
