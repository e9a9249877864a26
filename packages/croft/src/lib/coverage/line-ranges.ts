/** Formats line numbers as `1-3,7`, so that a file that ran completely takes a few characters. */
export function toRanges(lines: Iterable<number>): string {
  const sorted = [...new Set(lines)].sort((a, b) => a - b);
  const ranges: [number, number][] = [];
  for (const line of sorted) {
    const last = ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

export function includesLine(ranges: string, line: number): boolean {
  return ranges.split(',').some((range) => {
    const [from = '', to = from] = range.split('-');
    return from !== '' && Number(from) <= line && line <= Number(to);
  });
}
