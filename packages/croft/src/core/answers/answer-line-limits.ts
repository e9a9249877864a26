/**
 * Most lines in the text of an answer. opencode shows the first 2000 lines and drops the end, which says how to
 * continue.
 */
export const maxAnswerLines = 1950;

/** Most lines of a file or page in one answer. The difference leaves space for notes and notices after them. */
export const maxContentLines = 1900;

/** Returns the index after the first `maxLines` lines from `start`. */
export function endOfLines(text: string, start: number, maxLines: number): number {
  let end = start;
  for (let lines = 0; lines < maxLines && end < text.length; lines++) {
    const at = text.indexOf('\n', end);
    end = at === -1 ? text.length : at + 1;
  }
  return end;
}

/** Returns the index where the last `maxLines` lines begin. */
export function startOfLines(text: string, maxLines: number): number {
  let start = text.length;
  for (let lines = 0; lines < maxLines && start > 0; lines++)
    start = start === 1 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
  return start;
}
