/** Hint for a failure before a change was committed. */
export const nothingStoredHint = 'Nothing was stored. Try again in a moment; if it keeps failing, tell the operator.';
