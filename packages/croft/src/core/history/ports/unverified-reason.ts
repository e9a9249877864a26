/**
 * Why it is unknown whether a check changed files, in words that continue "…, because". A runner sends the key and not
 * the words: a model takes the words for Croft's own.
 */
const words = {
  none: 'no history of it is kept',
  closed: 'its history cannot be opened',
  unread: 'it has not been read as a whole yet',
  unreadable: 'its history cannot be read',
  crowded: 'too many of its files changed meanwhile',
  silent: 'its runner does not say',
  old: 'its runner is of an older release',
} as const;

export type UnverifiedReason = keyof typeof words;

export function explainUnverified(workspace: string, why: UnverifiedReason): string {
  return `Checks must not change source files. Croft cannot verify that in the workspace ${workspace}, because ${words[why]}.`;
}
