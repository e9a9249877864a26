import { type EntrySource, type McpClient, tokenVariable } from './mcp-client.ts';

/** Most clients name a program so. */
const toProgram = ({ command, args }: Extract<EntrySource, { kind: 'stdio' }>) => ({ command, args });

const variable = (name: string) => `\${${name}}`;
const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

/** The path of a settings file below the directory in which this system keeps the settings of all programs. */
const inSettings = (directory: string, file: string) => ({ sign: directory, userFile: `${directory}/${file}` });

/** VS Code asks for the token once and keeps it. */
const tokenInput = {
  id: 'croft-token',
  type: 'promptString',
  description: 'A key of the Croft server',
  password: true,
};

/** The clients that `croft init` configures. Each has another file, key or spelling for the same two facts. */
export const mcpClients: readonly McpClient[] = [
  {
    ...{ name: 'claude-code', title: 'Claude Code', sign: '.claude.json', format: 'json', table: 'mcpServers' },
    ...{ userFile: '.claude.json', projectFile: '.mcp.json', projectVariable: '.' },
    toEntry: (server) =>
      server.kind === 'stdio'
        ? { type: 'stdio', ...toProgram(server) }
        : { type: 'http', url: server.url, ...bearer(variable(tokenVariable)) },
  },
  {
    ...{ name: 'cursor', title: 'Cursor', sign: '.cursor', format: 'json', table: 'mcpServers' },
    ...{ userFile: '.cursor/mcp.json', projectFile: '.cursor/mcp.json', projectVariable: variable('workspaceFolder') },
    toEntry: (server) =>
      server.kind === 'stdio' ? toProgram(server) : { url: server.url, ...bearer(variable(`env:${tokenVariable}`)) },
  },
  {
    ...{ name: 'vscode', title: 'VS Code', sign: '.config/Code', format: 'json', table: 'servers' },
    ...{ userFile: '.config/Code/User/mcp.json', projectFile: '.vscode/mcp.json' },
    elsewhere: {
      darwin: inSettings('Library/Application Support/Code', 'User/mcp.json'),
      win32: inSettings('AppData/Roaming/Code', 'User/mcp.json'),
    },
    projectVariable: variable('workspaceFolder'),
    toEntry: (server) =>
      server.kind === 'stdio'
        ? { type: 'stdio', ...toProgram(server) }
        : { type: 'http', url: server.url, ...bearer(variable(`input:${tokenInput.id}`)) },
    inputs: [tokenInput],
  },
  {
    ...{ name: 'codex', title: 'Codex', sign: '.codex', format: 'toml', table: 'mcp_servers' },
    ...{ userFile: '.codex/config.toml', projectFile: '.codex/config.toml', projectVariable: '.' },
    // Codex gives up after a minute, and a build may take longer.
    toEntry: (server) => ({
      ...(server.kind === 'stdio' ? toProgram(server) : { url: server.url, bearer_token_env_var: tokenVariable }),
      tool_timeout_sec: 900,
    }),
  },
  {
    ...{ name: 'windsurf', title: 'Windsurf', sign: '.codeium/windsurf', format: 'json', table: 'mcpServers' },
    userFile: '.codeium/windsurf/mcp_config.json',
    toEntry: (server) =>
      server.kind === 'stdio'
        ? toProgram(server)
        : { serverUrl: server.url, ...bearer(variable(`env:${tokenVariable}`)) },
  },
  {
    ...{ name: 'zed', title: 'Zed', sign: '.config/zed', format: 'json', table: 'context_servers' },
    ...{ userFile: '.config/zed/settings.json', projectFile: '.zed/settings.json' },
    elsewhere: { win32: inSettings('AppData/Roaming/Zed', 'settings.json') },
    // Zed reads no variables, so a token would have to be in the file.
    toEntry: (server) => (server.kind === 'stdio' ? toProgram(server) : undefined),
  },
  {
    ...{ name: 'gemini', title: 'Gemini CLI', sign: '.gemini', format: 'json', table: 'mcpServers' },
    ...{ userFile: '.gemini/settings.json', projectFile: '.gemini/settings.json', projectVariable: '.' },
    toEntry: (server) =>
      server.kind === 'stdio' ? toProgram(server) : { httpUrl: server.url, ...bearer(`$${tokenVariable}`) },
  },
  {
    ...{ name: 'opencode', title: 'opencode', sign: '.config/opencode', format: 'json', table: 'mcp' },
    ...{ userFile: '.config/opencode/opencode.json', projectFile: 'opencode.json', projectVariable: '.' },
    // opencode gives up after five seconds, and a build may take longer.
    toEntry: (server) => ({
      ...(server.kind === 'stdio'
        ? { type: 'local', command: [server.command, ...server.args] }
        : { type: 'remote', url: server.url, oauth: false, ...bearer(`{env:${tokenVariable}}`) }),
      enabled: true,
      timeout: 900_000,
    }),
  },
];
