/** Shapes, labels and quoted texts stay; a name before an arrow, and `--` before a word, get a space. */
const parts = /("[^"]*"|\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\|[^|]*\|)|(\w)(?=<?--|-\.)|(--)(?=\w)(?![xo]\s)/g;

/**
 * Puts spaces around the arrows of a flowchart. The renderer takes the `--` of `a-->b` for a part of the name, which may
 * have hyphens. Lines keep their numbers.
 */
export function spaceArrows(source: string): string {
  if (!/^\s*(?:graph|flowchart)\b/m.test(source)) return source;
  const spaceLine = (line: string) => line.replaceAll(parts, (whole, kept?: string) => (kept ? whole : `${whole} `));
  return source
    .split('\n')
    .map((line) => (/^\s*%%|^---\s*$/.test(line) ? line : spaceLine(line)))
    .join('\n');
}
