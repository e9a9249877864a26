import { expect, test } from 'vitest';
import { canonicalName } from './canonical-name.ts';

test.each([
  ['.GIT', '.git'],
  ['.git.', '.git'],
  ['.git ', '.git'],
  ['.Git::$INDEX_ALLOCATION', '.git'],
  ['.g\u200cit', '.git'],
  ['GIT~1', '.git'],
  ['.VſCode', '.vscode'],
  ['.husKy', '.husky'],
  ['VSCODE~12', '.vscode'],
  ['BASH_P~1', '.bash_profile'],
  ['MCP~1.JSO', '.mcp.json'],
  ['All.CODE-Workspace', 'all.code-workspace'],
  ['Head', 'HEAD'],
  ['head', 'HEAD'],
  ['CONFIG.worktree', 'config.worktree'],
  ['HOOKS', 'hooks'],
])('%j may be %j', (name, control) => {
  expect(canonicalName(name)).toBe(control);
});

test.each(['.git', 'README.md', 'config', '.github', '.gitx', 'git', 'GIT~', 'main~1', 'x.git', '..', '.', '', 'É'])(
  '%j is only itself',
  (name) => {
    expect(canonicalName(name)).toBe(name);
  },
);
