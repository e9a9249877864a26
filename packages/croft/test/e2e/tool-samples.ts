export type Arguments = Record<string, unknown>;

/** For each tool, calls that succeed and calls that fail, each in a new tree. A new tool needs an entry here. */
export const samples: Record<
  string,
  { readonly succeeds: readonly Arguments[]; readonly fails: readonly Arguments[] }
> = {
  workspaces: { succeeds: [{}], fails: [] },
  render_dot: {
    succeeds: [{ source: 'digraph { a -> b }', output_path: 'new/graph.svg' }],
    fails: [
      {},
      { source: 'digraph { a -> ', output_path: 'graph.svg' },
      { source: 'graph { a }', output_path: 'graph.jpeg' },
    ],
  },
  render_mermaid: {
    succeeds: [{ source: 'graph TD\nA --> B', output_path: 'new/flow.png' }],
    fails: [
      {},
      { source: 'graph TD\nA[x --> B', output_path: 'flow.svg' },
      { source: 'graph TD\nA --> B', output_path: 'dir' },
    ],
  },
  next_page: { succeeds: [], fails: [{}, { cursor: 'x' }, { cursor: '0badc0de.0-1' }] },
  read: {
    succeeds: [
      { file_path: 'text.txt' },
      { file_path: 'empty' },
      { file_path: 'blob' },
      { file_path: 'pixel.gif' },
      { file_path: 'text.txt', limit: 1 },
    ],
    fails: [
      {},
      { file_path: 'absent' },
      { file_path: '..' },
      { file_path: 'text.txt', offset: 99 },
      { file_path: 'dir' },
    ],
  },
  write: {
    succeeds: [{ file_path: 'new/file.txt', content: 'x' }],
    fails: [{}, { file_path: 'unread.txt', content: 'x' }, { file_path: '../x', content: 'x' }],
  },
  edit: {
    succeeds: [
      { file_path: 'text.txt', old_string: 'one', new_string: '1' },
      { file_path: 'text.txt', edits: [{ old_string: 'one', new_string: '1' }] },
    ],
    fails: [
      {},
      { file_path: 'text.txt', old_string: 'absent', new_string: '' },
      { file_path: 'text.txt', old_string: 'o', new_string: '' },
      { file_path: 'unread.txt', old_string: 'x', new_string: 'y' },
    ],
  },
  move: {
    succeeds: [{ from: 'text.txt', to: 'moved.txt' }],
    fails: [{}, { from: 'absent', to: 'x' }, { from: 'text.txt', to: 'dir' }],
  },
  delete: {
    succeeds: [{ file_path: 'text.txt' }, { file_path: 'dir', recursive: true }],
    fails: [{}, { file_path: 'dir' }, { file_path: '.' }],
  },
  list: {
    succeeds: [{}, { path: 'dir', limit: 1 }, { workspace: 'all' }, { workspace: 'all', path: 'dir' }],
    fails: [{ path: 'absent' }, { path: 'text.txt' }, { path: '/' }, { workspace: 'c' }],
  },
  glob: {
    succeeds: [
      { pattern: '*' },
      { pattern: '*', limit: 1 },
      { pattern: 'none' },
      { pattern: '*', path: 'dir', workspace: 'all' },
    ],
    fails: [{}, { pattern: '[' }, { pattern: '*', path: 'absent' }, { pattern: '*', path: '..' }],
  },
  bash: {
    succeeds: [{ command: 'echo hi' }, { command: 'exit 3' }, { command: 'true', run_in_background: true }],
    fails: [{}, { command: 'sudo ls' }, { command: 'true', secrets: ['absent'] }, { command: 'true', on_timeout: 'x' }],
  },
  cd: {
    succeeds: [{}, { path: '.' }, { path: '/tmp' }, { path: '~' }, { path: '/' }],
    fails: [{ path: 'absent' }, { path: '..' }, { path: '/absent' }, { path: 7 }],
  },
  run_command: {
    succeeds: [{ cmd: 'true' }, { cmd: 'cat', args: ['absent'] }],
    fails: [{}, { cmd: 'no-such-program' }, { cmd: 'true', args: 'x' }],
  },
  watch_process: {
    succeeds: [{ command: 'true' }, { command: 'true', error_patterns: [] }],
    fails: [{}, { command: 'true', error_patterns: ['('] }, { command: 'mount' }],
  },
  shells: { succeeds: [{}], fails: [] },
  // shells.test.ts tests these with a running command.
  bash_output: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  bash_input: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  kill_shell: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  watch_process_events: { succeeds: [], fails: [{}, { shell_id: 'nope' }] },
  secret: { succeeds: [], fails: [{}, { name: 'absent' }, { name: '../x' }] },
  secrets_available: { succeeds: [{}], fails: [] },
  // run-tests.test.ts, run-lint.test.ts and test/projects test these in projects.
  run_tests: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_failing_tests: { succeeds: [], fails: [{}, { language: 'go' }] },
  run_lint: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_typecheck: { succeeds: [], fails: [{}, { files: 'x' }, { language: 'go' }] },
  run_format: { succeeds: [], fails: [{}, { check: 'x' }, { language: 'go' }] },
  run_script: { succeeds: [], fails: [{}, { name: 'absent' }, { name: ' ' }] },
  last_test_failures: { succeeds: [{}, { limit: 1 }], fails: [{ limit: 'x' }] },
  tests_covering: { succeeds: [{ file: 'text.txt' }, { file: 'text.txt', line: 1 }], fails: [{}, { file: '' }] },
  snapshot_create: {
    succeeds: [{ name: 's' }, { name: 's', description: 'x', include_ignored: true }],
    fails: [{}, { name: 'x/y' }, { name: '.' }, { name: 's', include_ignored: 'x' }],
  },
  snapshot_list: { succeeds: [{}], fails: [] },
  snapshot_diff: {
    succeeds: [{ name: 's' }, { name: 's', to: 's' }],
    fails: [{}, { name: 'absent' }, { name: '../s' }],
  },
  snapshot_restore: {
    succeeds: [{ name: 's' }],
    fails: [{}, { name: 'absent' }, { green: true }, { name: 's', green: true }],
  },
  snapshot_delete: { succeeds: [{ name: 's' }], fails: [{}, { name: 'absent' }] },
  // test/history tests these with calls to undo.
  undo: { succeeds: [], fails: [{ calls: 0 }, { checkpoint: 'absent' }, { calls: 1, checkpoint: 'cp_000001' }] },
  undo_list: { succeeds: [{}, { limit: 1 }], fails: [{ limit: 'x' }] },
  // test/skills tests what these find.
  skills: { succeeds: [{}, { workspace: 'all' }], fails: [{ workspace: 'c' }] },
  skill: { succeeds: [], fails: [{}, { name: 'absent' }, { name: '../x' }, { name: ' ' }] },
  agents: { succeeds: [{}, { workspace: 'all' }], fails: [{ name: 'absent' }, { name: 7 }] },
  // test/code tests these with language servers.
  find_definition: {
    succeeds: [{ symbol: 'one' }, { file_path: 'text.txt', line: 1, col: 1 }],
    fails: [{}, { file_path: 'text.txt', line: 1 }, { file_path: 'absent', line: 1, col: 1 }, { symbol: '' }],
  },
  find_references: {
    succeeds: [{ symbol: 'one' }, { file_path: 'text.txt', line: 1, col: 1, limit: 1 }],
    fails: [{}, { symbol: 'one', cursor: 'x' }, { file_path: '..', line: 1, col: 1 }],
  },
  find_implementations: { succeeds: [], fails: [{}, { file_path: 'text.txt', line: 1, col: 1 }] },
  calls: { succeeds: [], fails: [{}, { symbol: 'one', depth: 4 }, { file_path: 'text.txt', line: 1, col: 1 }] },
  hover: {
    succeeds: [],
    fails: [{}, { file_path: 'text.txt', line: 1, col: 1 }, { file_path: 'text.txt', line: 99, col: 1 }],
  },
  code_actions: { succeeds: [], fails: [{}, { file_path: 'text.txt', line: 1 }, { file_path: 'absent', line: 1 }] },
  diagnostics: { succeeds: [], fails: [{}, { file_path: 'text.txt' }, { file_path: 'dir' }, { file_path: 'absent' }] },
  rename_symbol: {
    succeeds: [],
    fails: [{}, { symbol: 'one' }, { file_path: 'text.txt', line: 1, col: 1, new_name: 'x' }],
  },
  // test/history tests these with a transaction.
  transaction_commit: { succeeds: [], fails: [{}, { transaction: 'absent' }] },
  transaction_discard: { succeeds: [], fails: [{}, { transaction: 'absent' }] },
  workspace_fork: { succeeds: [], fails: [{}, { name: '../x' }, { name: 'all' }, { name: 'f', snapshot: 'absent' }] },
  workspace_merge: { succeeds: [], fails: [{}, { fork: 'absent' }, { fork: 'x', on_conflict: 'x' }] },
  workspace_remove: { succeeds: [], fails: [{}, { fork: 'absent' }] },
  ast_replace: {
    succeeds: [
      { pattern: 'foo($A)', rewrite: 'bar($A)', language: 'typescript' },
      { pattern: 'foo($A)', rewrite: 'bar($A)', language: 'typescript', apply: true },
    ],
    fails: [
      {},
      { pattern: 'foo(', rewrite: 'x', language: 'typescript' },
      { pattern: 'x', rewrite: 'y', language: 'no-such' },
      { pattern: 'x', rewrite: 'y', language: 'typescript', path: '..' },
    ],
  },
  search_code: {
    succeeds: [{ query: 'shop' }, { query: 'nothing has this' }],
    fails: [{}, { query: '?' }, { query: 'x', path: '..' }],
  },
  repo_map: {
    succeeds: [{}, { tokens: 300, focus: 'code.ts' }],
    fails: [{ focus: 1 }, { tokens: 'many' }],
  },
  ast_search: {
    succeeds: [{ pattern: 'foo($A)' }, { rule: { kind: 'call_expression' }, language: 'typescript' }],
    fails: [
      {},
      { pattern: 'foo(', language: 'typescript' },
      { pattern: 'x', language: 'no-such' },
      { pattern: 'x', path: '..' },
    ],
  },
  outline: {
    succeeds: [{}, { path: 'code.ts' }, { path: 'code.ts', detail: 'members', depth: 1 }],
    fails: [{ path: 'absent' }, { path: 'text.txt' }, { path: 'code.ts', detail: 'x' }, { path: '..' }],
  },
  read_symbol: {
    succeeds: [{ symbol: 'Shop.add' }, { file_path: 'code.ts', line: 2 }, { file_path: 'code.ts', line: 2, col: 3 }],
    fails: [
      {},
      { symbol: 'absent' },
      { file_path: 'code.ts', symbol: 'absent' },
      { file_path: 'text.txt', symbol: 'one' },
    ],
  },
  edit_function_body: {
    succeeds: [{ file_path: 'code.ts', function_name: 'Shop.add', new_body: 'return 2;' }],
    fails: [
      {},
      { file_path: 'code.ts', function_name: 'absent', new_body: '' },
      { file_path: 'code.ts', function_name: 'Shop.add', new_body: '}' },
      { file_path: 'unread.ts', function_name: 'f', new_body: '' },
      { file_path: 'text.txt', function_name: 'f', new_body: '' },
    ],
  },
  change_function_signature: {
    succeeds: [{ file_path: 'code.ts', function_name: 'Shop.add', new_signature: 'add(a: number)' }],
    fails: [
      {},
      { file_path: 'code.ts', function_name: 'Shop.add', new_signature: 'other()' },
      { file_path: 'unread.ts', function_name: 'f', new_signature: 'function f(a)' },
    ],
  },
  insert_after_method: {
    succeeds: [{ file_path: 'code.ts', receiver_type: 'Shop', method_name: 'add', new_method: 'b() {}' }],
    fails: [{}, { file_path: 'code.ts', receiver_type: 'Shop', method_name: 'absent', new_method: 'b() {}' }],
  },
  replace_symbol: {
    succeeds: [{ symbol: 'Shop.add', new_text: 'add() {}' }],
    fails: [{}, { symbol: 'Shop.add', new_text: 'other() {}' }, { file_path: 'unread.ts', symbol: 'f', new_text: 'x' }],
  },
  insert_before_symbol: {
    succeeds: [{ symbol: 'Shop', text: 'const x = 1;' }],
    fails: [{}, { symbol: 'absent', text: 'x' }, { symbol: 'Shop', text: '}' }],
  },
  insert_after_symbol: {
    succeeds: [{ symbol: 'Shop', text: 'const x = 1;' }],
    fails: [{}, { symbol: 'absent', text: 'x' }, { symbol: 'Shop', text: '{' }],
  },
  delete_symbol: {
    succeeds: [{ symbol: 'Shop.add' }, { symbol: 'used', force: true }],
    fails: [{}, { symbol: 'absent' }, { symbol: 'used' }],
  },
  grep: {
    succeeds: [
      { pattern: 'one' },
      { pattern: 'one', context: 1 },
      { pattern: 'one', output_mode: 'count' },
      { pattern: 'one', output_mode: 'files_with_matches' },
      { pattern: 'one', workspace: 'all' },
    ],
    fails: [
      {},
      { pattern: '(' },
      { pattern: 'x', output_mode: 'x' },
      { pattern: 'x', type: 'x' },
      { pattern: 'x', path: '..' },
    ],
  },
};
