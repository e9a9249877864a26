import fc from 'fast-check';

// --- settings as git reads them ---

/** Writes a value in one of the ways that git reads as the same. */
function writeValue(value: string, choices: readonly number[]): string {
  let [text, isQuoted] = ['', false];
  for (const [index, byte] of [...value].entries()) {
    const choice = choices[index % choices.length];
    if (choice === 1) text += '""';
    if (choice === 2) text += '\\\n';
    if (choice === 3) {
      text += '"';
      isQuoted = !isQuoted;
    }
    text += byte;
  }
  return isQuoted ? `${text}"` : text;
}

const gap = fc.constantFrom('', ' ', '\t', '  \t ');
const headers = {
  hooks: ['[core]', '[CORE]', '[core]\n', '[core] # ]\n', '[x "a]b=\\"c"][core]', '[core ]'],
  include: ['[include]', '[InClude]\r\n', '[includeIf "gitdir:**"]', '[includeIf "gitdir:**"] ; "\n', '[x][include]'],
};
const setting = fc.oneof(
  fc.record({
    header: fc.constantFrom(...headers.hooks),
    name: fc.constantFrom('hooksPath', 'HOOKSPATH', 'hookspath'),
    value: fc.constantFrom('hooks-1', './hooks-2', 'deep/hooks 3', 'hooks-4/../hooks-5', 'ROOT/hooks-6'),
  }),
  fc.record({
    header: fc.constantFrom(...headers.include),
    name: fc.constantFrom('path', 'Path'),
    value: fc.constantFrom('one', '../two', './../sub/three', 'ROOT/four'),
  }),
);
const choices = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 1, maxLength: 12 });
const end = fc.constantFrom('\n', '\r\n', ' \n', ' # "comment\\\n', ';c\n', '\t\n\n');
const line = fc
  .tuple(setting, gap, gap, gap, choices, end)
  .map(([{ header, name, value }, a, b, c, how, last]) => [header, a, name, b, '=', c, how, value, last] as const);
const noise = fc.constantFrom(
  '[core]\nbare\n',
  '# [include] path = no\n',
  '[alias]\nx = "!f() { echo ]; }; f"\n',
  '[x "y"]\n\n',
  `[pad]\nx = ${'a'.repeat(5000)}\n`,
  `${' '.repeat(4090)}[core]\n`,
);
export const settingsText = (root: string) =>
  fc
    .tuple(fc.constantFrom('', '\ufeff'), fc.array(fc.oneof({ weight: 4, arbitrary: line }, noise), { maxLength: 5 }))
    .map(
      ([mark, lines]) => mark + lines.map((part) => (typeof part === 'string' ? part : writeLine(part, root))).join(''),
    );

function writeLine(
  [header, a, name, b, equals, c, how, value, last]: readonly (string | readonly number[])[],
  root: string,
) {
  const written = writeValue((value as string).replace('ROOT', root), how as number[]);
  return [header, a, name, b, equals, c, written, last].join('');
}
