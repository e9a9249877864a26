import { expect, test } from 'vitest';
import { codeOf, messageOf, shareServer } from '../e2e/shared-server.ts';

const { call } = shareServer({
  'tsconfig.json': '{"compilerOptions":{"strict":true}}',
  'a.ts':
    'export function first(): number {\n  return second();\n}\nexport function second(): number {\n  return 1;\n}\n',
});

/** Names of other systems, as their users write them, by the tool of this one. */
const names = {
  find_definition: 'definition read_definition goToDefinition lsp_goto_definition find_symbol',
  find_references: 'references find_referencing_symbols list_code_usages lsp_find_references',
  find_implementations: 'find_implementation goToImplementation',
  calls: 'incomingCalls callers callees',
  outline: 'document_symbols documentSymbol get_symbols_overview lsp_symbols',
  search_code: 'workspace_symbols codebase_search semantic_search',
  diagnostics: 'get_diagnostics get_errors lsp_diagnostics',
  rename_symbol: 'lsp_rename rename_symbol_strict',
  replace_symbol: 'replace_symbol_body',
  delete_symbol: 'safe_delete_symbol',
  ast_search: 'find_code ast_grep_search',
  ast_replace: 'ast_grep_replace',
  repo_map: 'view_repo_map',
};

test.each(Object.entries(names))('%s is reached by the names %s', async (tool, aliases) => {
  for (const alias of aliases.split(' ')) {
    // An argument that no tool has is refused by the tool that the name stands for.
    const answer = await call(alias, { no_such_argument: 1 });
    expect([alias, codeOf(answer), messageOf(answer)]).toEqual([
      alias,
      'E_INVALID_INPUT',
      expect.stringContaining(`${tool} has no argument "no_such_argument"`),
    ]);
  }
});

test.each([
  ['LSP', { operation: 'goToDefinition', filePath: 'a.ts', line: 2, character: 10 }, 'a.ts:4:17'],
  ['LSP', { operation: 'documentSymbol', filePath: 'a.ts', line: 1, character: 1 }, 'function first'],
  ['lsp', { action: 'references', file: 'a.ts', symbol: 'second' }, '2'],
  ['LSP', { operation: 'outgoingCalls', filePath: 'a.ts', line: 1, character: 17 }, 'calls of first'],
  ['LSP', { operation: 'workspaceSymbol', query: 'second', filePath: 'a.ts', line: 1, character: 1 }, 'second'],
  ['callees', { symbol_name: 'first' }, 'second a.ts:4'],
  ['callers', { symbol_name: 'second' }, 'first a.ts:1'],
  ['get_symbols_overview', { relative_path: 'a.ts' }, 'function second'],
  ['lsp_rename', { filePath: 'a.ts', line: 4, character: 17, newName: 'third', dry_run: true }, 'third'],
])('%s %j', async (name, args, expected) => {
  await call('read', { file_path: 'a.ts' });
  const answer = await call(name, args);
  expect(answer.isError, answer.text).toBe(false);
  expect(answer.text).toContain(expected);
});

test.each([{}, { operation: 'explode' }, { operation: '__proto__' }, { action: 7 }])(
  'an operation that is none is refused: %j',
  async (args) => {
    const answer = await call('LSP', args);
    expect([codeOf(answer), messageOf(answer)]).toEqual([
      'E_INVALID_INPUT',
      expect.stringMatching(/one of gotodefinition/),
    ]);
  },
);
