import { describe, expect, test } from 'vitest';
import { findServer, openRealServer } from './installed-servers.ts';

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
