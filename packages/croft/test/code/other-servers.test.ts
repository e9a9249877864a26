import { describe, expect, test } from 'vitest';
import { codeOf, messageOf } from '../e2e/shared-server.ts';
import { findServer, openRealServer } from './installed-servers.ts';
import { processesIn } from './server-fixture.ts';

/** Servers that tests do not install. Each case runs where its server is on the PATH. */
const cases = [
  {
    server: 'clangd',
    files: {
      'a.h': 'int add_up(int a);\n',
      'a.c': '#include "a.h"\nint add_up(int a) { return a; }\n',
      'b.c': '#include "a.h"\nint main(void) { return add_up(add_up(1)); }\n',
    },
    use: { file_path: 'b.c', line: 2, symbol: 'add_up' },
    definition: ['a.c:2:5'],
    references: 4,
    wrong: ['b.c', 'add_up(1)', 'add_down(1)'],
  },
  {
    server: 'bash-language-server',
    files: {
      'lib.sh': '#!/bin/bash\nadd_up() {\n  echo "$1"\n}\n',
      'a.sh': '#!/bin/bash\nsource ./lib.sh\nadd_up 1\nadd_up 2\n',
    },
    use: { file_path: 'a.sh', line: 3, symbol: 'add_up' },
    definition: ['lib.sh:2:1'],
    references: 3,
  },
  {
    server: 'gopls',
    files: {
      'go.mod': 'module example.com/a\n\ngo 1.18\n',
      'a.go': 'package main\n\nfunc addUp(a int) int { return a }\n',
      'b.go': 'package main\n\nfunc main() { addUp(addUp(1)) }\n',
    },
    use: { file_path: 'b.go', line: 3, symbol: 'addUp' },
    definition: ['a.go:3:6'],
    references: 3,
  },
  {
    server: 'rust-analyzer',
    files: {
      'Cargo.toml': '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
      'src/main.rs': 'mod b;\nfn main() { b::add_up(b::add_up(1)); }\n',
      'src/b.rs': 'pub fn add_up(a: i32) -> i32 { a }\n',
    },
    use: { file_path: 'src/main.rs', line: 2, symbol: 'add_up' },
    definition: ['src/b.rs:1:8'],
    references: 3,
  },
] as const;

/** Without it, clangd knows no file that is not open. */
function compileDatabase(directory: string): string {
  return JSON.stringify(['a.c', 'b.c'].map((file) => ({ directory, file, arguments: ['cc', '-c', file] })));
}

describe.each(cases)('$server', ({ server, files, use, definition, references, ...more }) => {
  const isReady = findServer(server) !== undefined;

  test.skipIf(!isReady)('finds a definition and all references, and knows an edit', async () => {
    const { call, set, workspace } = await openRealServer(server, files);
    if (server === 'clangd') set('compile_commands.json', compileDatabase(workspace));
    const found = await call('find_definition', use);
    const locations = found.structured.items.map(
      ({ path, line, col }: { path: string; line: number; col: number }) => `${path}:${line}:${col}`,
    );
    expect([found.structured.precision, ...locations]).toEqual(['server', ...definition]);
    expect((await call('find_references', use)).structured).toMatchObject({ total: references, precision: 'server' });
    const [path = ''] = definition[0].split(':');
    set(path, `\n${(files as Record<string, string>)[path]}`);
    const moved = await call('find_definition', use);
    expect(moved.structured.items[0].line).toBe(found.structured.items[0].line + 1);
    if (!('wrong' in more)) return;
    const [file_path, old_string, new_string] = more.wrong;
    await call('read', { file_path });
    const edited = await call('edit', { file_path, old_string, new_string });
    expect(edited.structured.effects.diagnostics).toMatchObject({ known: true });
    expect(edited.structured.effects.diagnostics.items.length).toBeGreaterThan(0);
  });
});

test.skipIf(!findServer('gopls'))('a method of Go is found by the name of its type', async () => {
  const { call } = await openRealServer('gopls', {
    'go.mod': 'module example.com/a\n\ngo 1.18\n',
    'a.go': 'package a\n\ntype Cart struct{}\n\nfunc (c *Cart) Add(n int) int { return n }\n\nfunc Add() {}\n',
  });
  for (const symbol of ['Cart.Add', '(*Cart).Add'])
    expect((await call('find_definition', { symbol })).structured).toMatchObject({
      items: [{ path: 'a.go', line: 5 }],
    });
  expect((await call('find_definition', { symbol: '/Add' })).structured).toMatchObject({ items: [{ line: 7 }] });
});

test.skipIf(!findServer('gopls'))(
  'a project of Go whose modules are missing is not waited for, and the error says why',
  async () => {
    const { call } = await openRealServer('gopls', {
      'go.mod': 'module example.com/a\n\ngo 1.15\n\nrequire example.com/gone v1.0.0\n',
      'a.go':
        'package a\n\nimport "example.com/gone"\n\nfunc addGo(n int) int { return gone.N + n }\n\nvar x = addGo(1)\n',
    });
    const startedAt = performance.now();
    const answer = await call('find_references', { file_path: 'a.go', line: 5, symbol: 'addGo' });
    expect([codeOf(answer), messageOf(answer)]).toEqual([
      'E_CODE_SERVER',
      expect.stringMatching(/Error loading workspace/),
    ]);
    expect(performance.now() - startedAt).toBeLessThan(25_000);
  },
);

test.skipIf(!findServer('clangd'))('a declaration and a definition of C are one symbol', async () => {
  const { call, set, workspace } = await openRealServer('clangd', cases[0].files);
  set('compile_commands.json', compileDatabase(workspace));
  expect((await call('find_definition', { symbol: 'add_up' })).structured).toMatchObject({ items: [{ path: 'a.c' }] });
  const { text } = await call('read_symbol', { symbol: 'add_up' });
  expect(text).toContain('return a;');
});

test.skipIf(!findServer('rust-analyzer'))('a method of Rust is found by the name of its type', async () => {
  const { call } = await openRealServer('rust-analyzer', {
    ...cases[3].files,
    'src/b.rs':
      'pub struct Cart;\nimpl Clone for Cart {\n    fn clone(&self) -> Cart { Cart }\n}\npub fn add_up(a: i32) -> i32 { a }\n',
  });
  const { structured } = await call('find_definition', { symbol: 'Cart.clone' });
  expect(structured).toMatchObject({ items: [{ path: 'src/b.rs', line: 3 }] });
});

/** Projects beside each other in one workspace, below a file that names them and without one. */
const projects = [
  {
    name: 'modules of a go.work',
    server: 'gopls',
    files: {
      'go.work': 'go 1.18\n\nuse (\n\t./one\n\t./two\n)\n',
      'one/go.mod': 'module example.com/one\n\ngo 1.18\n',
      'one/one.go': 'package one\n\nfunc AddUp(a int) int { return a }\n',
      'two/go.mod': 'module example.com/two\n\ngo 1.18\n',
      'two/two.go': 'package two\n\nimport "example.com/one"\n\nfunc Twice() int { return one.AddUp(one.AddUp(1)) }\n',
    },
    use: { file_path: 'two/two.go', line: 5, symbol: 'AddUp' },
    definition: 'one/one.go:3',
    references: 3,
  },
  {
    name: 'modules that nothing names together',
    server: 'gopls',
    files: {
      'a/one/go.mod': 'module example.com/one\n\ngo 1.18\n',
      'a/one/one.go': 'package one\n\nfunc AddUp(a int) int { return a }\n',
      'a/one/more.go': 'package one\n\nfunc Twice() int { return AddUp(AddUp(1)) }\n',
      'b/two/go.mod': 'module example.com/two\n\ngo 1.18\n',
      'b/two/two.go': 'package two\n\nfunc AddUp(a int) int { return a }\n',
    },
    use: { file_path: 'a/one/more.go', line: 3, symbol: 'AddUp' },
    definition: 'a/one/one.go:3',
    references: 3,
  },
  {
    name: 'crates that nothing names together',
    server: 'rust-analyzer',
    files: {
      'a/one/Cargo.toml': '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
      'a/one/src/lib.rs': 'pub fn add_up(a: i32) -> i32 { a }\n',
      'b/two/Cargo.toml':
        '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\none = { path = "../../a/one" }\n',
      // Cargo would write this file, and the workspace is read-only.
      'b/two/Cargo.lock':
        '# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\n\n[[package]]\nname = "one"\nversion = "0.1.0"\n\n[[package]]\nname = "two"\nversion = "0.1.0"\ndependencies = [\n "one",\n]\n',
      'b/two/src/lib.rs': 'pub fn twice() -> i32 { one::add_up(one::add_up(1)) }\n',
    },
    use: { file_path: 'b/two/src/lib.rs', line: 1, symbol: 'add_up' },
    definition: 'a/one/src/lib.rs:1',
    references: 3,
  },
] as const;

test.each(projects.filter(({ server }) => findServer(server)).map((project) => [project.name, project] as const))(
  '%s have one process, and each is known',
  async (_, { server, files, use, definition, references }) => {
    const { call, workspace } = await openRealServer(server, files);
    const { structured } = await call('find_definition', use);
    expect(structured).toMatchObject({ precision: 'server', complete: true });
    expect(structured.items.map(({ path, line }: { path: string; line: number }) => `${path}:${line}`)).toEqual([
      definition,
    ]);
    expect((await call('find_references', use)).structured).toMatchObject({ total: references, precision: 'server' });
    // gopls has a second process of its own, without this argument.
    expect(processesIn(workspace, server === 'gopls' ? 'serve' : server)).toHaveLength(1);
  },
);
