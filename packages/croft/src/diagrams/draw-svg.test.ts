import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diagrams } from '../../test/fixtures/diagrams/sources.ts';
import { drawSvg } from './draw-svg.ts';

const drawingOf = (name: string) =>
  readFileSync(join(import.meta.dirname, '../../test/fixtures/diagrams', `${name}.golden`), 'utf8');

test.each(Object.entries(diagrams))('%s is drawn as recorded', async (name, [language, source]) => {
  expect(`${await drawSvg(language, source)}\n`).toBe(drawingOf(name));
});

test.each(Object.keys(diagrams))('%s refers to no other resource, and has plain colors', (name) => {
  const drawing = drawingOf(name)
    .replaceAll(/ xmlns(?::xlink)?="[^"]*"/g, '')
    .replaceAll(/>[^<]*<\/text>|data-\w+="[^"]*"/g, '');
  expect(drawing).not.toMatch(/https?:|\/\/|@import|href|color-mix|var\(|\bdata:|<image|<script|hostname/i);
  expect([...drawing.matchAll(/url\((.)/g)].filter(([, first]) => first !== '#')).toEqual([]);
});

test('the texts in a diagram stay as written', () => {
  expect(drawingOf('flowchart')).toContain('>Done (--x: var(--y))</text>');
  expect(drawingOf('flowchart')).toContain('data-label="Done (--x: var(--y))"');
});

test.each([
  ['mermaid', 'graph TD\n  A --> B\n  A[Start --> B', 'line 3: [ is not closed'],
  ['mermaid', 'graph TD\n\n  %% a comment\n  A --> ', 'line 4: 1 of 1 arrows lead nowhere'],
  [
    'mermaid',
    'graph TD\n  A --> B\n  B --x C',
    'line 3: 1 of 1 arrows lead nowhere, or are of a kind that is not drawn',
  ],
  ['mermaid', 'graph TD\n  A) --> B', 'line 2: unbalanced )'],
  ['mermaid', 'sequenceDiagram\n  A->>: hi', 'line 2: an arrow leads nowhere'],
  ['mermaid', 'stateDiagram-v2\n  A -->', 'line 2: an arrow leads nowhere'],
  ['mermaid', 'erDiagram\n  A ||--o{ B : has\n  A {\n    string name', 'line 3: { is not closed'],
  ['mermaid', 'classDiagram\n  class A {\n  }\n  }', 'line 4: unbalanced }'],
  [
    'mermaid',
    '---\ntitle: x\n---\ngantt\n  title A',
    'line 4: Mermaid diagrams that begin with "gantt" are not drawn here; supported: flowchart, sequenceDiagram, classDiagram, erDiagram, stateDiagram, xychart. Other kinds need a browser (Chromium)',
  ],
  ['dot', 'digraph {\n  a -> \n  b -> ; }', "syntax error in line 3 near ';'"],
  ['dot', 'nonsense', "syntax error in line 1 near 'nonsense'"],
] as const)('%s: %j is refused, with its line', async (language, source, reason) => {
  await expect(drawSvg(language, source)).rejects.toThrow(reason);
});

test.each([
  ...['a-->b', 'a<-->b', 'a---b', 'a-.->b', 'a--yes-->b', 'a-->|yes--no|b', 'a[x--y]-->b', 'my-id-->b'].map(
    (line) => `flowchart LR\n  ${line}`,
  ),
  'flowchart LR\n  subgraph one\n    a>"flag [x"] -- go --> b\n  end\n  b -.-> c & d ==> e',
  'graph TD\n  A["it is [ not ( closed"] --> B((round))\n  B --- C[/slanted/]',
  'erDiagram\n  A }o..|| B : "has: {"\n',
  'sequenceDiagram\n  A->>+B: a --> b\n  B-->>-A: ok\n  loop every day -> night\n    A-)B: x\n  end',
])('%j is drawn', async (source) => {
  expect(await drawSvg('mermaid', source)).toMatch(/^<svg /);
});

test('an arrow needs no spaces around it, and a name keeps its hyphens', async () => {
  const [tight, spaced] = ['my-id-->b-- yes -->c', 'my-id --> b -- yes --> c'].map((line) => `flowchart LR\n  ${line}`);
  expect(await drawSvg('mermaid', tight ?? '')).toBe(await drawSvg('mermaid', spaced ?? ''));
});
