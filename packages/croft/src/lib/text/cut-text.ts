/** Returns at most `max` UTF-16 units from `start`, without splitting a surrogate pair at the end. */
export function cutText(text: string, max: number, start = 0): string {
  const end = start + max;
  if (end >= text.length) return text.slice(start);
  const isSplit = isHighSurrogate(text.charCodeAt(end - 1)) && max > 1;
  return text.slice(start, isSplit ? end - 1 : end);
}

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
