import { expect, test } from 'vitest';
import { readGitSettings } from './read-git-settings.ts';

const read = (text: string) => readGitSettings(text).map(({ key, value }) => `${key}=${value}`);

test.each([
  ['[core]\n\thooksPath = shared/hooks\n', ['core.hookspath=shared/hooks']],
  ['[CORE] HooksPath=a # no\n', ['core.hookspath=a']],
  ['[core]\nhooksPath = "a b" c ; x', ['core.hookspath=a b c']],
  ['[core]\nhooksPath = a  "b"\n', ['core.hookspath=a  b']],
  ['[core]\r\nhooksPath = a\r\n', ['core.hookspath=a']],
  ['[core]\nhooksPath = a\\\nb\n', ['core.hookspath=ab']],
  ['[core]\nhooksPath = "a#b" \\"q\\\\\n', ['core.hookspath=a#b "q\\']],
  ['[includeIf "gitdir:~/x]/"]\npath = inc\n', ['includeif.*.path=inc']],
  ['[includeif.onbranch:x]\npath = inc\n', ['includeif.*.path=inc']],
  ['\uFEFF[include]\npath=a\npath=b\n', ['include.path=a', 'include.path=b']],
  ['[core]\nbare\nhooksPath=x\n', ['core.bare=', 'core.hookspath=x']],
  ['[a "b', []],
  ['[core] ??? hooksPath = x', ['core.hookspath=x']],
])('reads %j', (text, settings) => {
  expect(read(text)).toEqual(settings);
});

test('needs time in proportion to the text', () => {
  const started = performance.now();
  for (const piece of ['[', '["', 'a=', 'a="', 'a=\\\n', ' ', '[a "\\', 'a = ;'])
    readGitSettings(piece.repeat(200_000));
  expect(performance.now() - started).toBeLessThan(5000);
});
