/** Groups of tools, with what each is for. Flags and agents' records choose tools by these names. */
export const toolsets = {
  session: 'workspaces, the working directory, long answers; always there',
  files: 'reading and changing files',
  search: 'finding files and text',
  commands: 'commands, background commands and their secrets',
  checks: 'tests, linters, type checkers, formatters',
  code: 'symbols: finding, reading, renaming and changing them',
  history: 'undo, snapshots and transactions',
  forks: 'copies of a workspace, and merging them back',
  skills: 'skills, sub-agents and memory',
  diagrams: 'rendering diagrams',
  mcp: 'tools of MCP servers that run in the sandbox',
} as const;

export type Toolset = keyof typeof toolsets;
