import { DiagramError } from './diagram-error.ts';

/** The kinds that the renderer draws, by the first word of the source. */
const kinds = {
  graph: 'flow',
  flowchart: 'flow',
  sequenceDiagram: 'sequence',
  classDiagram: 'class',
  erDiagram: 'er',
  stateDiagram: 'state',
  'stateDiagram-v2': 'state',
  xychart: 'chart',
  'xychart-beta': 'chart',
} as const;

type MermaidKind = (typeof kinds)[keyof typeof kinds];

interface Line {
  readonly number: number;
  readonly text: string;
}

/** Counts the edges that the renderer sees in a piece of a flowchart. */
type CountEdges = (flowchart: string) => number;

const supported = 'flowchart, sequenceDiagram, classDiagram, erDiagram, stateDiagram, xychart';

/** Arrows of sequence, class, ER and state diagrams. */
const arrows: Readonly<Record<Exclude<MermaidKind, 'flow' | 'chart'>, RegExp>> = {
  sequence: /<?<?-?-(?:>>?|[x)])/,
  class: /(?:<\||[*o<])?(?:--|\.\.)(?:\|>|[*o>])?/,
  er: /[|}][|o](?:--|\.\.)[|o][|{]/,
  state: /-->/,
};

/**
 * Refuses a source that the renderer would draw wrongly: it silently leaves out lines that it does not understand. Throws a
 * `DiagramError` with the number of the line.
 */
export function checkMermaid(source: string, countEdges: CountEdges): void {
  const lines = readLines(source);
  const [head, ...body] = lines;
  const kind = head && kindOf(head);
  if (!kind || kind === 'chart') return;
  if (kind === 'flow') for (const line of body) checkFlowLine(line, countEdges);
  else checkArrows(body, arrows[kind]);
  if (kind === 'class' || kind === 'er' || kind === 'state') checkBraces(body);
}

/** Returns the lines that say something: no comments, no front matter. */
function readLines(source: string): Line[] {
  const lines = source.split(/\r?\n/).map((text, index) => ({ number: index + 1, text: text.trim() }));
  const isFenced = lines.find(({ text }) => text !== '')?.text === '---';
  const fences = lines.filter(({ text }) => text === '---');
  const first = isFenced ? (fences[1]?.number ?? lines.length) : 0;
  return lines.slice(first).filter(({ text }) => text !== '' && !text.startsWith('%%'));
}

function kindOf({ number, text }: Line): MermaidKind {
  const [word = ''] = text.split(/[\s;:]/);
  const known = Object.entries(kinds).find(([name]) => name === word);
  if (known) return known[1];
  const shown = JSON.stringify(word.slice(0, 40));
  const reason = `Mermaid diagrams that begin with ${shown} are not drawn here; supported: ${supported}`;
  throw new DiagramError(`${reason}. Other kinds need a browser (Chromium), which Croft does not run`, number);
}

const opening: Readonly<Record<string, string>> = { ']': '[', ')': '(', '}': '{' };

function checkFlowLine({ number, text }: Line, countEdges: CountEdges): void {
  // `A>text]` is a shape, too.
  const plain = text.replaceAll(/"[^"]*"/g, '""').replaceAll(/(\w)>([^\]>]*)\]/g, '$1[$2]');
  const open: string[] = [];
  for (const letter of plain) {
    if ('[({'.includes(letter)) open.push(letter);
    const wanted = opening[letter];
    if (wanted !== undefined && open.pop() !== wanted) throw new DiagramError(`unbalanced ${letter}`, number);
  }
  if (open.length > 0) throw new DiagramError(`${open.at(-1)} is not closed`, number);
  const wanted = countArrows(plain);
  const found = wanted === 0 ? 0 : countEdges(`graph TD\n${text}`);
  if (found >= wanted) return;
  throw new DiagramError(
    `${wanted - found} of ${wanted} arrows lead nowhere, or are of a kind that is not drawn`,
    number,
  );
}

/** Ignores what is inside brackets and labels. */
function countArrows(plain: string): number {
  const bare = plain.replaceAll(/\[[^\]]*\]|\([^)]*\)|\{[^}]*\}|\|[^|]*\|/g, ' ');
  return bare.match(/--+>|---+|==+>|===+|\.+->|-\.+-(?!>)|--[xo](?=\s)|~~~+/g)?.length ?? 0;
}

function checkArrows(lines: readonly Line[], arrow: RegExp): void {
  for (const { number, text } of lines) {
    if (/^(?:note|title|%%|direction)\b/i.test(text)) continue;
    const [line = ''] = text.replaceAll(/"[^"]*"/g, '""').split(':');
    const found = arrow.exec(line);
    if (!found) continue;
    const [from, to] = [line.slice(0, found.index), line.slice(found.index + found[0].length)];
    if (from.trim() === '' || to.trim() === '') throw new DiagramError('an arrow leads nowhere', number);
  }
}

/** Blocks of several lines: each `{` needs its `}`. ER relations have braces, too, such as `||--o{`. */
function checkBraces(lines: readonly Line[]): void {
  const open: number[] = [];
  for (const { number, text } of lines) {
    for (const letter of text.replaceAll(/"[^"]*"|[|}o][|o]?(?:--|\.\.)[|o]?[|{o]/g, '')) {
      if (letter === '{') open.push(number);
      if (letter === '}' && open.pop() === undefined) throw new DiagramError('unbalanced }', number);
    }
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) throw new DiagramError('{ is not closed', unclosed);
}
