const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };

/** Parses a size such as `512m` or `1.5G` into bytes. Returns `undefined` for any other text. */
export function parseSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)([kmgt]?)$/i.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const bytes = Math.floor(Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN));
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
