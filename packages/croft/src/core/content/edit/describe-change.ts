import { compactDiff } from '../../../lib/text/compact-diff.ts';
import { decodeText } from '../../../lib/text/lines/lines.ts';

const maxDiffBytes = 2 * 1024 * 1024;

/** Returns a small diff; empty if the files are too large to compare. */
export function describeChange(before: Buffer, after: Buffer): string {
  if (before.length + after.length > maxDiffBytes) return '';
  return compactDiff(decodeText(before).text, decodeText(after).text);
}
