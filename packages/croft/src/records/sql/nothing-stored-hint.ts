/** Hint for a failure before a change was committed. */
export const nothingStoredHint =
  'Nothing was stored. Send the request again in a moment; if the error persists, tell the operator.';

/** Hint for a full disk of the database. Callers do not know that disk, and cannot free it for certain. */
export const databaseFullHint =
  'Nothing was stored. Tell the operator, who can free space on the disk of the database.';
