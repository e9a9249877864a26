import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alphanumerics, fake } from '../../../test/support/fake-secrets.ts';
import { createSecretMarker } from './redact.ts';
import { restoreMarks } from './restore-marks.ts';
import { shapeLabels } from './shape-labels.ts';

const marker = createSecretMarker([['db', 'value-of-the-db']]);
const pats = [0, 1, 2].map((from) => fake('ghp_', alphanumerics.slice(from, from + 36)));

function restore(current: string, change: (shown: string) => string): string | undefined {
  const shown = marker.redactReversibly(current);
  const text = change(shown.text);
  return restoreMarks(text, marker.findMarks(text), shown);
}

test('reversible redaction shows the same text as plain redaction', () => {
  const text = `a ${pats[0]} b value-of-the-db c [REDACTED:db]\nurl https://u:pa55word@host/\n`;
  expect(marker.redactReversibly(text).text).toBe(marker.redact(text));
});

const line = fc.oneof(
  fc.constantFrom('', 'plain', 'x = [REDACTED:db]', 'y = value-of-the-db', '[REDACTED:github-pat]'),
  fc.constantFrom(...pats),
  fc.tuple(fc.constantFrom('one', 'two', 'three'), fc.constantFrom(...pats)).map(([name, pat]) => `${name}: ${pat}`),
);
const lines = fc.array(line, { minLength: 1, maxLength: 12 });

test('unchanged text comes back exactly, whichever way its lines end', () => {
  fc.assert(
    fc.property(lines, fc.constantFrom('\n', '\r\n'), (all, ending) => {
      const text = all.join(ending);
      expect(restore(text, (shown) => shown)).toBe(text);
    }),
  );
});

test('after lines were added, removed or moved, each secret goes back to a line of its own, or nothing is restored', () => {
  const change = fc.record({ at: fc.nat(12), to: fc.nat(12), kind: fc.constantFrom('put', 'take', 'move') });
  fc.assert(
    fc.property(lines, change, (all, { at, to, kind }) => {
      const moved = (of: readonly string[]) => {
        const kept = [...of];
        const taken = kind === 'put' ? ['a new line'] : kept.splice(at, 1);
        if (kind !== 'take') kept.splice(to, 0, ...taken);
        return kept.join('\n');
      };
      const result = restore(all.join('\n'), (shown) => moved(shown.split('\n')));
      if (result === undefined) return;
      // Equal lines may be swapped, because nobody can tell them apart.
      const hidden = (text: string) => [...text.split('\n')].sort();
      if (kind !== 'take') expect(hidden(result)).toEqual(hidden(moved(all)));
      expect(marker.redact(result)).toBe(moved(marker.redactReversibly(all.join('\n')).text.split('\n')));
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a mark that was not there', 'nothing\n', (shown: string) => `${shown}[REDACTED:db]`],
  ['one of two that differ, alone', `${pats[0]}\n${pats[1]}\n`, () => 'x [REDACTED:github-pat]\n'],
  [
    'three for two',
    `${pats[0]}\n${pats[1]}\n`,
    () => 'a\n[REDACTED:github-pat]\nb\n[REDACTED:github-pat]\n[REDACTED:github-pat]\nc',
  ],
])('%s is refused, not guessed', (_, current, change) => {
  expect(restore(current, change)).toBeUndefined();
});

test('a secret moves with the lines around it when blocks change places', () => {
  const [one, two] = [`# prod\n${pats[0]}\nend\n`, `# dev\n${pats[1]}\nend\n`];
  const swap = (shown: string) => shown.replace(/(# prod\n.*\nend\n)(# dev\n.*\nend\n)/, '$2$1');
  expect(restore(one + two, swap)).toBe(two + one);
});

test('needs time in proportion to the text', () => {
  const long = `${pats[0]} `.repeat(20_000);
  const started = performance.now();
  expect(restore(long, (shown) => `x${shown}y`)).toBe(`x${long}y`);
  expect(performance.now() - started).toBeLessThan(5000);
});

test('every redaction label is recognised as a mark', () => {
  const text = [
    `t ${pats[0]}`,
    `k ${fake('AKIA', 'ABCDEFGHIJKLMNOP')}`,
    'url https://u:pa55word@host/',
    `authorization: Basic ${alphanumerics}`,
    `authorization: Bearer ${alphanumerics}`,
    `DB_PASSWORD=${alphanumerics}`,
  ].join('\n');
  const labels = Array.from(marker.redact(text).matchAll(/\[REDACTED:([^\]]*)\]/g), ([, label = '']) => label);
  expect(labels.length).toBeGreaterThanOrEqual(6);
  for (const label of labels) expect(shapeLabels).toContain(label);
});
