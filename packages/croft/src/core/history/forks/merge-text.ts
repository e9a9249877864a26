import { diffArrays } from 'diff';
import { diff3Merge } from 'node-diff3';

/** Larger texts take too long to merge: comparing lines takes quadratic time where all lines differ. */
const maxBytes = 512 * 1024;
const maxLines = 10_000;
/** Ends a comparison early. Otherwise an agent could block this server by writing two such texts. */
const bounds = { maxEditLength: 5000, timeout: 300 };

interface MergedText {
  readonly text: string;
  readonly hasConflicts: boolean;
}

interface ThreeTexts {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/**
 * Merges line by line. Conflicting changes stand between markers. Returns `undefined` if there is too much to compare.
 */
export function mergeText({ base, ours, theirs }: ThreeTexts, name: string): MergedText | undefined {
  const sides = [ours, base, theirs].map(toLines);
  if (sides.some((lines) => lines.length > maxLines)) return undefined;
  const [a = [], o = [], b = []] = sides;
  const [ourNames, theirNames] = [nameLines(o, a), nameLines(o, b)];
  if (!ourNames || !theirNames) return undefined;
  let hasConflicts = false;
  const toText = (names: readonly string[] = []) => names.map((line) => o[Number(line)] ?? line.slice(1));
  const baseNames = o.map((_, index) => String(index));
  const pieces = diff3Merge(ourNames, baseNames, theirNames, { excludeFalseConflicts: true }).flatMap((piece) => {
    if (piece.ok) return toText(piece.ok);
    hasConflicts = true;
    const [mine, yours] = [ended(toText(piece.conflict?.a)), ended(toText(piece.conflict?.b))];
    return ['<<<<<<< workspace\n', ...mine, '=======\n', ...yours, `>>>>>>> ${name}\n`];
  });
  return { text: pieces.join(''), hasConflicts };
}

/**
 * Names each line of `side` by its position in the base, or by its text after a colon if it is new. This makes all base
 * lines distinct: a three-way merge of many equal lines would take cubic time, minutes in practice.
 */
function nameLines(base: string[], side: string[]): string[] | undefined {
  let at = 0;
  return diffArrays(base, side, bounds)?.flatMap(({ value, added, removed }) => {
    if (added) return value.map((line) => `:${line}`);
    at += value.length;
    return removed ? [] : value.map((_, index) => String(at - value.length + index));
  });
}

/** Returns `undefined` for bytes that are no text, or too many. */
export function readAsText(bytes: Uint8Array): string | undefined {
  if (bytes.length > maxBytes || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function toLines(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

/** Ends the last line, because a marker has to begin a line. */
function ended(lines: readonly string[] = []): string[] {
  return lines.map((line) => (line.endsWith('\n') ? line : `${line}\n`));
}
