interface ClientConfiguration {
  readonly name: string;
  /** The file or command into which the text is copied. */
  readonly where: string;
  /** Without a secret, the text names the environment variable `CROFT_TOKEN`. */
  write(url: string, secret: string | undefined): string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
const bearer = (secret: string | undefined, variable: string) => ({ Authorization: `Bearer ${secret ?? variable}` });

/** How each MCP client is told about a server. */
export const clients: readonly ClientConfiguration[] = [
  {
    name: 'Claude Code',
    where: 'A command for the terminal',
    write: (url, secret) =>
      `claude mcp add --transport http croft ${url} \\\n  --header "Authorization: Bearer ${secret ?? '$CROFT_TOKEN'}"`,
  },
  {
    name: 'Cursor',
    where: '~/.cursor/mcp.json',
    write: (url, secret) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills this in.
      json({ mcpServers: { croft: { url, headers: bearer(secret, '${env:CROFT_TOKEN}') } } }),
  },
  {
    name: 'VS Code',
    where: '.vscode/mcp.json, or “MCP: Add Server”',
    write: (url, secret) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills this in.
      json({ servers: { croft: { type: 'http', url, headers: bearer(secret, '${env:CROFT_TOKEN}') } } }),
  },
  {
    name: 'Codex',
    where: '~/.codex/config.toml; the key is in the environment variable CROFT_TOKEN',
    write: (url, secret) =>
      `${secret === undefined ? '' : `# export CROFT_TOKEN=${secret}\n`}[mcp_servers.croft]\nurl = "${url}"\nbearer_token_env_var = "CROFT_TOKEN"\ntool_timeout_sec = 600`,
  },
  {
    name: 'Other',
    where: 'The form that most clients read',
    write: (url, secret) =>
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills this in.
      json({ mcpServers: { croft: { type: 'http', url, headers: bearer(secret, '${CROFT_TOKEN}') } } }),
  },
];

/** Returns the server's URL, with 127.0.0.1 in place of a name below `localhost`, which not every program resolves. */
export function toServerUrl({ protocol, hostname, port }: Location, path: string): string {
  const host = hostname.endsWith('.localhost') ? '127.0.0.1' : hostname;
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}${path}`;
}
