export interface MemoryEntry {
  readonly title: string;
  /** The heading and everything up to the next one. */
  readonly text: string;
}

interface MemoryParts {
  /** The text before the first entry. */
  readonly preamble: string;
  /** In file order: the latest saved entry is last. */
  readonly entries: readonly MemoryEntry[];
}

const heading = /^##? /;
const codeFence = /^(?:```|~~~)/;

/**
 * Splits a memory file into entries. An entry begins with `## ` and its title. A heading of a higher level ends an
 * entry too. Headings inside code blocks do not count.
 */
export function splitMemory(text: string): MemoryParts {
  const lines = text.split(/(?<=\n)/);
  const isHeading = headingTest(lines);
  const starts = [...lines.keys()].filter(isHeading);
  const parts = starts.map((start, index) => lines.slice(start, starts[index + 1]));
  const first = parts.findIndex(([line = '']) => line.startsWith('## '));
  const count = first === -1 ? lines.length : starts[first];
  return {
    preamble: lines.slice(0, count).join(''),
    entries: first === -1 ? [] : parts.slice(first).map(toEntry),
  };
}

/**
 * Renders an entry as Markdown. No line of the content can begin another entry, and an unclosed code block is closed.
 */
export function renderEntry(title: string, content: string): string {
  const lines = content.split('\n');
  const isHeading = headingTest(lines);
  const body = lines.map((line, index) => (isHeading(index) ? line.replace(heading, '### ') : line));
  const open = hasOpenFence(lines) ? ['```'] : [];
  return [`## ${toTitle(title)}`, '', ...body, ...open].join('\n');
}

/** Reduces a title to one line. */
export function toTitle(title: string): string {
  return title.trim().replace(/\s+/g, ' ');
}

function toEntry([line = '', ...rest]: readonly string[]): MemoryEntry {
  return { title: line.startsWith('## ') ? toTitle(line.slice(3)) : '', text: [line, ...rest].join('') };
}

/**
 * Returns a test for heading lines. If a code fence is never closed, fences are ignored: otherwise it would hide every
 * heading after it.
 */
function headingTest(lines: readonly string[]): (index: number) => boolean {
  const inCode = new Set<number>();
  let isOpen = false;
  for (const [index, line] of lines.entries()) {
    if (codeFence.test(line)) isOpen = !isOpen;
    if (isOpen) inCode.add(index);
  }
  return (index) => heading.test(lines[index] ?? '') && (isOpen || !inCode.has(index));
}

function hasOpenFence(lines: readonly string[]): boolean {
  return lines.filter((line) => codeFence.test(line)).length % 2 === 1;
}
