import { chmodSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from './shared-server.ts';

const { at, bytes, call, put, text } = shareServer({});

const shop = `package shop

// Server serves.
type Server struct{}

func (s *Server) Run(n int) error {
	return nil
}

func (s *Server) Close() {}

func asmAdd(a, b int) int
`;

/** A file that this session has read. */
async function known(name: string, content: string | Buffer) {
  put(name, content);
  await call('read', { file_path: name });
}

test('change_function_signature lists the calls that no longer fit', async () => {
  put(
    'misfit/use.ts',
    "import { scale } from './scale.ts';\nscale(1);\nscale(2, 'a, b');\nscale(...[1]);\nother.rescale(1);\nscale(\n  3,\n);\n",
  );
  await known('misfit/scale.ts', 'export function scale(a: number) {\n  return a;\n}\n');
  const change = { file_path: 'misfit/scale.ts', function_name: 'scale' };
  const { text: shown, structured } = await call('change_function_signature', {
    ...change,
    new_signature: 'function scale(a: number, by: string)',
  });
  expect(structured.misfits).toEqual([{ path: 'misfit/use.ts', line: 2, text: 'scale(1);' }]);
  expect(shown).toContain('1 calls no longer fit the signature (by text):\n  misfit/use.ts:2 scale(1);\n');
});

test('a file with more definitions than are listed can still be edited', async () => {
  const rows = Array.from({ length: 8200 }, (_, index) => `const v${index} = ${index};`);
  await known('many.ts', `function first() {\n  return 1;\n}\n${rows.join('\n')}\n`);
  const insertion = { file_path: 'many.ts', symbol: 'first', text: 'function second() {\n  return 2;\n}' };
  const answer = await call('insert_after_symbol', insertion);
  expect(answer.isError, answer.text).toBe(false);
  expect(text('many.ts')).toContain('function second()');
});

describe('the seed tools', () => {
  test('edit_function_body answers the region that changed', async () => {
    await known('shop.go', shop);
    const answer = await call('edit_function_body', {
      ...{ file_path: 'shop.go', function_name: '(*Server).Run', new_body: 'return fail()' },
    });
    const diff = '--- before\n+++ after\n@@ starting line 7 @@\n-\treturn nil\n+\treturn fail()';
    expect(answer.text).toBe(`edit_function_body: modified shop.go at line 7\n${diff}`);
    expect(answer.structured).toEqual({ path: 'shop.go', symbol: 'Server.Run', kind: 'method', line: 7, diff });
    expect(text('shop.go')).toBe(shop.replace('return nil', 'return fail()'));
    await call('undo', {});
    expect(text('shop.go')).toBe(shop);
  });

  test('a function without a body is an error, and the server goes on', async () => {
    await known('shop.go', shop);
    const answer = await call('edit_function_body', { file_path: 'shop.go', function_name: 'asmAdd', new_body: 'x()' });
    expect(messageOf(answer)).toBe('asmAdd has no body');
    expect(text('shop.go')).toBe(shop);
    expect((await call('read', { file_path: 'shop.go' })).isError).toBe(false);
  });

  test('change_function_signature keeps the body', async () => {
    await known('shop.go', shop);
    const signature = 'func (s *Server) Run(ctx context.Context, n int) error';
    await call('change_function_signature', {
      file_path: 'shop.go',
      function_name: 'Server.Run',
      new_signature: signature,
    });
    expect(text('shop.go')).toBe(shop.replace('func (s *Server) Run(n int) error', signature));
  });

  test('insert_after_method reports how many bytes and where', async () => {
    await known('shop.go', shop);
    const answer = await call('insert_after_method', {
      ...{
        file_path: 'shop.go',
        receiver_type: '*Server',
        method_name: 'Run',
        new_method: 'func (s *Server) Stop() {}',
      },
    });
    expect(answer.text).toBe(
      'insert_after_method: inserted 28 bytes in shop.go at line 10\n+func (s *Server) Stop() {}',
    );
    expect(text('shop.go')).toBe(shop.replace('\treturn nil\n}\n', '\treturn nil\n}\n\nfunc (s *Server) Stop() {}\n'));
  });

  test('a missing method is answered with those that the type has', async () => {
    await known('shop.go', shop);
    const insert = (receiver_type: string) =>
      call('insert_after_method', { file_path: 'shop.go', receiver_type, method_name: 'Stop', new_method: 'x' });
    const found = await insert('*Server');
    expect(messageOf(found)).toBe(
      'method Stop not found on *Server in shop.go (available: (*Server).Run, (*Server).Close)',
    );
    expect(codeOf(found)).toBe('E_NO_SYMBOL');
    expect(messageOf(await insert('Till'))).toBe(
      'method Stop not found on Till in shop.go (no methods found on that receiver)',
    );
  });

  test('missing names and ambiguous names have different errors', async () => {
    await known('two.go', 'package a\n\nfunc (t T) Foo() {}\n\nfunc (u U) Foo() {}\n');
    const edit = (function_name: string) =>
      call('edit_function_body', { file_path: 'two.go', function_name, new_body: '' });
    const many = await edit('Foo');
    expect(messageOf(many)).toMatch(
      /^ambiguous: Foo matches 2 declarations at line 3, line 5\ntwo\.go:3 method T\.Foo /,
    );
    expect(codeOf(many)).toBe('E_AMBIGUOUS');
    expect(messageOf(await edit('Fooo'))).toBe('function Fooo not found in two.go (nearest: T.Foo, U.Foo)');
    expect(messageOf(await edit('(*T).Bar'))).toMatch(/^method \(\*T\)\.Bar not found in two\.go/);
    expect((await edit('Foo[1]')).structured.symbol).toBe('U.Foo');
  });

  test('a file that was not read is not edited, nor is a file in another language', async () => {
    put('unread.go', shop);
    const edit = (file_path: string) => call('edit_function_body', { file_path, function_name: 'Run', new_body: '' });
    expect(messageOf(await edit('unread.go'))).toBe('refusing to edit unread.go: Read it first');
    await known('notes.txt', 'Run');
    expect(messageOf(await edit('notes.txt'))).toMatch(/^no AST support for notes\.txt \(known extensions: .*\.go/);
    expect(text('unread.go')).toBe(shop);
  });

  test('a body that breaks the file is refused, and a file that is broken elsewhere is edited', async () => {
    await known('shop.go', shop);
    const edit = (file_path: string, new_body: string) =>
      call('edit_function_body', { file_path, function_name: 'Run', new_body });
    for (const body of ['return nil }', '}\n\nfunc evil() {', 'if (', '"', '/*']) {
      const answer = await edit('shop.go', body);
      expect(codeOf(answer), body).toBe('E_NOT_PARSED');
      expect(messageOf(answer)).toMatch(/^replacement did not parse/);
    }
    expect(text('shop.go')).toBe(shop);
    const broken = `${shop}\nfunc broken( {\n`;
    await known('broken.go', broken);
    expect((await edit('broken.go', 'return fail()')).isError).toBe(false);
    expect(text('broken.go')).toBe(broken.replace('return nil', 'return fail()'));
  });
});

describe('read_symbol', () => {
  const source = "/** Adds. */\n@log\nexport function add(a: number) {\n  return a;\n}\n\nexport const other = 'x';\n";

  test('shows a definition with everything that belongs to it, by name alone', async () => {
    put('sum/add.ts', source);
    const { text: shown, structured } = await call('read_symbol', { symbol: 'add' });
    expect(shown).toBe(
      'sum/add.ts:3 function add\n1\t/** Adds. */\n2\t@log\n3\texport function add(a: number) {\n4\t  return a;\n5\t}\n',
    );
    expect(structured).toMatchObject({ path: 'sum/add.ts', startLine: 1, endLine: 5, truncated: false });
  });

  test('allows changes to the text that it showed, and to nothing else in the file', async () => {
    put('part.ts', source.replaceAll('add', 'sum'));
    const where = { file_path: 'part.ts' };
    const replace = (symbol: string, new_text: string) => call('replace_symbol', { ...where, symbol, new_text });
    expect(codeOf(await replace('sum', 'function sum() {}'))).toBe('E_NOT_READ');
    await call('read_symbol', { ...where, symbol: 'sum' });
    expect(codeOf(await replace('other', 'const other = 1;'))).toBe('E_NOT_READ');
    expect((await replace('sum', 'export function sum() {\n  return 1;\n}')).isError).toBe(false);
    expect(text('part.ts')).toBe("export function sum() {\n  return 1;\n}\n\nexport const other = 'x';\n");
    // The new bytes are known, the rest of the file still is not.
    expect((await replace('sum', 'export function sum() {}')).isError).toBe(false);
    expect(codeOf(await replace('other', 'const other = 1;'))).toBe('E_NOT_READ');
    expect(codeOf(await call('edit', { ...where, old_string: "'x'", new_string: '1' }))).toBe('E_NOT_READ');
  });

  test('an attribute added later was not read, so it is not overwritten', async () => {
    put('late.ts', 'function late() {}\n');
    await call('read_symbol', { file_path: 'late.ts', symbol: 'late' });
    put('late.ts', '// @ts-ignore\nfunction late() {}\n');
    const answer = await call('replace_symbol', {
      file_path: 'late.ts',
      symbol: 'late',
      new_text: 'function late() {}',
    });
    expect(codeOf(answer)).toBe('E_NOT_READ');
    expect(text('late.ts')).toBe('// @ts-ignore\nfunction late() {}\n');
  });

  test('finds by line and column, in UTF-16 units, and lists the identifiers of the line after a miss', async () => {
    put('wide.ts', "const 名 = '😀'; function wide() {}\n");
    const at = (col: number) => call('read_symbol', { file_path: 'wide.ts', line: 1, col });
    expect((await at(26)).structured.symbol).toBe('wide');
    expect((await at(7)).structured.symbol).toBe('名');
    expect(messageOf(await at(33))).toMatch(/^no identifier is at wide\.ts:1:33; the line has const \(1\), 名 \(7\)/);
  });
});

describe('symbols of other tools', () => {
  test('insert and delete keep all other bytes and the mode', async () => {
    const source = Buffer.from('\u{feff}class A {\r\n  a() {}\r\n\r\n  b() {}\r\n}', 'utf8');
    await known('crlf.js', source);
    chmodSync(at('crlf.js'), 0o755);
    const c = { file_path: 'crlf.js', symbol: 'A.b', text: '/** c */\nc() {\n  return 1;\n}' };
    await call('insert_after_symbol', c);
    expect(bytes('crlf.js').toString()).toBe(
      source.toString().replace('b() {}\r\n', 'b() {}\r\n\r\n  /** c */\r\n  c() {\r\n    return 1;\r\n  }\r\n'),
    );
    await call('delete_symbol', { file_path: 'crlf.js', symbol: 'A.c' });
    expect(bytes('crlf.js')).toEqual(source);
    await call('insert_before_symbol', { ...c, symbol: 'A.a' });
    await call('delete_symbol', { file_path: 'crlf.js', symbol: 'A.c' });
    expect(bytes('crlf.js')).toEqual(source);
    expect(statSync(at('crlf.js')).mode & 0o777).toBe(0o755);
  });

  test('delete_symbol lists what mentions the symbol, and deletes it when forced', async () => {
    await known('used.py', 'def used():\n    return 1\n\n\ndef rest():\n    pass\n');
    put('caller.py', 'import used\n\nused.used()\n');
    const answer = await call('delete_symbol', { file_path: 'used.py', symbol: 'used' });
    expect(codeOf(answer)).toBe('E_IN_USE');
    expect(messageOf(answer)).toContain('\ncaller.py:1 import used\ncaller.py:3 used.used()');
    expect((await call('delete_symbol', { file_path: 'used.py', symbol: 'used', force: true })).isError).toBe(false);
    expect(text('used.py')).toBe('def rest():\n    pass\n');
  });

  test('a name that several files define is answered with its places', async () => {
    for (const name of ['one', 'two']) put(`many/${name}.py`, 'class Twice:\n    def go(self):\n        pass\n');
    const answer = await call('read_symbol', { symbol: 'Twice.go' });
    expect(messageOf(answer)).toMatch(
      /^ambiguous: Twice\.go matches 2 declarations\nmany\/one\.py:2 method Twice\.go def go\(self\):\nmany\/two\.py:2/,
    );
    expect(messageOf(await call('read_symbol', { symbol: 'twice' }))).toMatch(
      /^symbol twice not found \(nearest: Twice/,
    );
  });

  test('other names of tools and arguments are accepted', async () => {
    await known('serena.py', 'def name():\n    return 1\n');
    const replaced = await call('replace_symbol_body', {
      ...{ relative_path: 'serena.py', name_path: '/name', body: 'def name():\n    return 2' },
    });
    expect(replaced.isError).toBe(false);
    expect((await call('get_symbols_overview', { relative_path: 'serena.py' })).text).toMatch(
      /^serena\.py \(python\)\n1-2 /,
    );
    expect(
      (await call('safe_delete_symbol', { file_path: 'serena.py', symbolName: 'name', force: true })).isError,
    ).toBe(false);
    expect(text('serena.py')).toBe('');
  });

  test('a link inside the workspace leads to its file, and one that leaves is a violation', async () => {
    put('real.go', shop);
    symlinkSync('real.go', at('link.go'));
    symlinkSync('/etc', at('out'));
    expect((await call('read_symbol', { file_path: 'link.go', symbol: 'Server.Run' })).structured.path).toBe('real.go');
    expect(codeOf(await call('outline', { path: 'out/passwd' }))).toBe('E_SANDBOX_VIOLATION');
  });
});

describe('outline', () => {
  test('of a file lists definitions with their lines', async () => {
    put('shop.go', shop);
    expect((await call('outline', { path: 'shop.go', detail: 'names' })).text).toBe(
      'shop.go (go)\n4 struct Server\n6-8 method Server.Run\n10 method Server.Close\n12 function asmAdd\n',
    );
  });

  test('of a large directory stays below 1500 tokens', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `export const longConstantName${index} = ${index};\n`).join(
      '',
    );
    for (let index = 0; index < 120; index++) put(`big/part${index % 7}/file-number-${index}.ts`, names);
    const { text: shown, structured } = await call('outline', { path: 'big' });
    expect(shown.length).toBeLessThan(6000);
    expect(shown).toContain('part0/file-number-0.ts');
    expect(structured.files).toHaveLength(120);
  });
});
