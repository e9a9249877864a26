import { diffArrays } from 'diff';

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

/** Replaces the base lines from `start` to before `end`. */
interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** Hunks of both sides that overlap or touch. */
interface Region {
  readonly start: number;
  end: number;
  readonly ours: Hunk[];
  readonly theirs: Hunk[];
}

/**
 * Merges line by line. Conflicting changes stand between markers. Returns `undefined` if there is too much to compare.
 */
export function mergeText(texts: ThreeTexts, name: string): MergedText | undefined {
  const [base, ours, theirs] = [toLines(texts.base), toLines(texts.ours), toLines(texts.theirs)];
  if ([base, ours, theirs].some((lines) => lines.length > maxLines)) return undefined;
  const [ourHunks, theirHunks] = [findHunks(base, ours), findHunks(base, theirs)];
  if (!ourHunks || !theirHunks) return undefined;
  let hasConflicts = false;
  let at = 0;
  const pieces = findRegions(ourHunks, theirHunks).map(({ start, end, ...sides }) => {
    const unchanged = base.slice(at, start);
    at = end;
    const mine = changed(base.slice(start, end), start, sides.ours);
    const yours = changed(base.slice(start, end), start, sides.theirs);
    if (sides.theirs.length === 0 || mine.join('') === yours.join('')) return [...unchanged, ...mine];
    if (sides.ours.length === 0) return [...unchanged, ...yours];
    hasConflicts = true;
    const conflict = ['<<<<<<< workspace\n', ...ended(mine), '=======\n', ...ended(yours), `>>>>>>> ${name}\n`];
    return [...unchanged, ...conflict];
  });
  return { text: [...pieces.flat(), ...base.slice(at)].join(''), hasConflicts };
}

function findHunks(base: string[], side: string[]): Hunk[] | undefined {
  let at = 0;
  let last: { start: number; end: number; lines: string[] } | undefined;
  return diffArrays(base, side, bounds)?.flatMap(({ value, added, removed }) => {
    const start = at;
    if (!added) at += value.length;
    if (!added && !removed) return [];
    const isNew = last?.end !== start;
    if (!last || isNew) last = { start, end: start, lines: [] };
    last.end = at;
    if (added) last.lines.push(...value);
    return isNew ? [last] : [];
  });
}

/** The regions in the order of the base. */
function findRegions(ours: readonly Hunk[], theirs: readonly Hunk[]): Region[] {
  const regions: Region[] = [];
  const all = [...ours.map((hunk) => ({ hunk, isOurs: true })), ...theirs.map((hunk) => ({ hunk, isOurs: false }))];
  for (const { hunk, isOurs } of all.sort((a, b) => a.hunk.start - b.hunk.start)) {
    const last = regions.at(-1);
    const region = last && hunk.start <= last.end ? last : { start: hunk.start, end: hunk.end, ours: [], theirs: [] };
    if (region !== last) regions.push(region);
    region.end = Math.max(region.end, hunk.end);
    (isOurs ? region.ours : region.theirs).push(hunk);
  }
  return regions;
}

/** The lines of a region after the hunks of one side. `start` is the base line at which the region begins. */
function changed(lines: readonly string[], start: number, hunks: readonly Hunk[]): string[] {
  let at = start;
  const replaced = hunks.flatMap((hunk) => {
    const unchanged = lines.slice(at - start, hunk.start - start);
    at = hunk.end;
    return [...unchanged, ...hunk.lines];
  });
  return [...replaced, ...lines.slice(at - start)];
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
