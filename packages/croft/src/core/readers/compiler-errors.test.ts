import fc from 'fast-check';
import { expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { findCompilerErrors } from './compiler-errors.ts';

test.each([
  ['go', './sub/a.go:6:8: undefined: x', './sub/a.go', 6, 'undefined: x'],
  ['go vet', 'vet: ./a_test.go:6:2: undeclared name: x', './a_test.go', 6, 'undeclared name: x'],
  ['gcc', "src/a.c:2:10: error: 'x' undeclared", 'src/a.c', 2, "'x' undeclared"],
  ['rustc', 'error[E0425]: cannot find value `c`\n --> src/lib.rs:2:9\n', 'src/lib.rs', 2, 'cannot find value `c`'],
  ['maven', '[ERROR] /p/A.java:[10,21] cannot find symbol', '/p/A.java', 10, 'cannot find symbol'],
  ['javac', 'A.java:3: error: ; expected', 'A.java', 3, '; expected'],
  ['kotlinc', 'e: file:///p/A.kt:3:5 Unresolved reference: x', '/p/A.kt', 3, 'Unresolved reference: x'],
  ['msbuild', '/p/A.cs(7,16): error CS0103: no x [/p/A.csproj]', '/p/A.cs', 7, 'CS0103: no x [/p/A.csproj]'],
  ['php', 'PHP Parse error:  syntax error in /p/a.php on line 3', '/p/a.php', 3, 'Parse error:  syntax error'],
  ['phpunit', "Message:  Unclosed '('\nLocation: /p/a.php:16", '/p/a.php', 16, "Unclosed '('"],
  [
    'python',
    '  File "a.py", line 3\n    x =\n       ^\nSyntaxError: invalid syntax',
    'a.py',
    3,
    'SyntaxError: invalid syntax',
  ],
  ['node', '/p/a.js:2\nx y\n  ^\n\nSyntaxError: Unexpected', '/p/a.js', 2, 'SyntaxError: Unexpected'],
  [
    'deno',
    'TS2322 [ERROR]: not assignable\nconst a\n      ^\n    at file:///p/b.ts:1:7',
    '/p/b.ts',
    1,
    'not assignable',
  ],
])('%s', (_, text, file, line, message) => {
  expect(findCompilerErrors(`before\n${text}\nafter`)).toEqual([{ file, line, message }]);
});

test.each([
  'src/a.c:2:10: warning: unused',
  'src/a.c:2:10: note: here',
  '  lib/sums.ex:2: Sums.add/2',
  '  lib/sums.ex:1: Sums (module)',
  '/p/src/root.zig:8:5: 0x102c1dc in test.panics (root.zig)',
  'https://example.com:80: x',
  '12:30:01: done',
])('%s is not an error line', (text) => {
  expect(findCompilerErrors(text)).toEqual([]);
});

test('any text is read without an exception, and a large text in bounded time', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void findCompilerErrors(text)));
  for (const piece of ['a:1: x\n', '\n', ':', 'error: x\n', '[ERROR] ', ' in ']) {
    const text = piece.repeat(500_000 / piece.length);
    await expectCheap(() => findCompilerErrors(text), 60);
  }
});
