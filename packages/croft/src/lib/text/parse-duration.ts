const units: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** Parses a duration such as `30`, `30s`, `1.5h` or `7d` into milliseconds. Returns `undefined` for any other text. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9}(?:\.\d{1,3})?)([smhd]?)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Math.round(Number(digits) * (units[unit] ?? Number.NaN) * 1000);
}

/** Formats a duration in the shortest form that `parseDuration` reads. */
export function durationText(ms: number): string {
  const seconds = ms / 1000;
  const unit =
    ['d', 'h', 'm'].find((name) => seconds >= (units[name] ?? 0) && seconds % (units[name] ?? 1) === 0) ?? 's';
  return `${seconds / (units[unit] ?? 1)}${unit}`;
}
