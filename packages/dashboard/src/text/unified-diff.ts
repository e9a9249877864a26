export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'note';
  readonly text: string;
  readonly before?: number;
  readonly after?: number;
}

export interface DiffHunk {
  readonly before: number;
  readonly after: number;
  readonly heading: string;
  readonly lines: readonly DiffLine[];
}

interface ParsedDiff {
  readonly hunks: readonly DiffHunk[];
  readonly added: number;
  readonly removed: number;
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;

/** Reads a unified diff of one file. Everything before the first hunk is a heading of files, which the page has already. */
export function parseUnifiedDiff(text: string): ParsedDiff {
  const hunks: DiffHunk[] = [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (let at = 0; at < lines.length; ) {
    const head = hunkHead.exec(lines[at] ?? '');
    at++;
    if (!head) continue;
    const hunk = readHunk(lines, at, head);
    hunks.push(hunk);
    at += hunk.lines.length;
  }
  const all = hunks.flatMap((hunk) => hunk.lines);
  const count = (kind: DiffLine['kind']) => all.reduce((sum, line) => sum + (line.kind === kind ? 1 : 0), 0);
  return { hunks, added: count('added'), removed: count('removed') };
}

/** The counts in its heading say where a hunk ends, because a removed line may look like a heading. */
function readHunk(lines: readonly string[], start: number, head: RegExpExecArray): DiffHunk {
  const [, from = '0', fromCount = '1', to = '0', toCount = '1', heading = ''] = head;
  let [before, after] = [Number(from), Number(to)];
  let [beforeLeft, afterLeft] = [Number(fromCount), Number(toCount)];
  const read: DiffLine[] = [];
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] ?? '';
    if (line.startsWith('\\')) read.push({ kind: 'note', text: line.slice(2) });
    else if (beforeLeft <= 0 && afterLeft <= 0) break;
    else if (line.startsWith('+')) {
      read.push({ kind: 'added', text: line.slice(1), after: after++ });
      afterLeft--;
    } else if (line.startsWith('-')) {
      read.push({ kind: 'removed', text: line.slice(1), before: before++ });
      beforeLeft--;
    } else {
      read.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ });
      beforeLeft--;
      afterLeft--;
    }
  }
  return { before: Number(from), after: Number(to), heading, lines: read };
}

/** A row of a diff in two columns. */
interface SplitRow {
  readonly left?: DiffLine | undefined;
  readonly right?: DiffLine | undefined;
}

export function toSplitRows(lines: readonly DiffLine[]): SplitRow[] {
  return toBlocks(lines).flatMap(({ removed, added, others }) => [
    ...Array.from({ length: Math.max(removed.length, added.length) }, (_, index) => ({
      left: removed[index],
      right: added[index],
    })),
    ...others.map((line) => ({ left: line, right: line })),
  ]);
}

/** Pairs each removed line with the added line that replaces it, so that changed words can be shown. */
export function pairChangedLines(lines: readonly DiffLine[]): Map<DiffLine, DiffLine> {
  const pairs = new Map<DiffLine, DiffLine>();
  for (const { removed, added } of toBlocks(lines)) {
    if (removed.length !== added.length) continue;
    removed.forEach((line, index) => {
      const other = added[index];
      if (other) pairs.set(line, other).set(other, line);
    });
  }
  return pairs;
}

interface ChangeBlock {
  readonly removed: DiffLine[];
  readonly added: DiffLine[];
  readonly others: DiffLine[];
}

function toBlocks(lines: readonly DiffLine[]): ChangeBlock[] {
  const blocks: ChangeBlock[] = [];
  let block: ChangeBlock = { removed: [], added: [], others: [] };
  for (const line of lines) {
    const isChange = line.kind === 'removed' || line.kind === 'added';
    if ((isChange && block.others.length > 0) || (line.kind === 'removed' && block.added.length > 0)) {
      blocks.push(block);
      block = { removed: [], added: [], others: [] };
    }
    const list = line.kind === 'removed' ? block.removed : line.kind === 'added' ? block.added : block.others;
    list.push(line);
  }
  return [...blocks, block];
}
