import type { Command } from '../command.ts';

export interface ListedCommand {
  readonly summary: string;
  load(): Promise<Command>;
}

/** Each command is loaded when it is used: servers are large, and `croft help` needs only the summaries. */
export const commands: Readonly<Record<string, ListedCommand>> = {
  approvals: {
    summary: 'see and decide what agents under --permission-mode wait for',
    load: async () => (await import('./approvals.ts')).approvals,
  },
  audit: {
    summary:
      'print the audit trail, a JSON line each; check that nothing in it was changed or taken out; print its signed head, ' +
      'to keep elsewhere; or accept the trail as it is, after you have looked into why it does not fit its head',
    load: async () => (await import('./audit.ts')).audit,
  },
  doctor: {
    summary:
      'say what this host can enforce, and what to do about what it cannot; exit code 1 if agents cannot work here',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  du: {
    summary: 'print what croft keeps in its data directory, the largest first, and why',
    load: async () => (await import('./du.ts')).du,
  },
  init: {
    summary: 'add croft to the MCP clients of this machine: shows each change, asks, and keeps the file before it',
    load: async () => (await import('./init.ts')).init,
  },
  keys: {
    summary: 'make a new key and seal every record with it while servers run; with PostgreSQL in two steps, as it says',
    load: async () => (await import('./keys.ts')).keys,
  },
  mcp: {
    summary: 'serve one agent over standard input and output',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  runner: {
    summary: 'offer the sandboxes of this machine to a server',
    load: async () => (await import('./runner.ts')).runner,
  },
  runners: {
    summary: 'let machines connect to a server, see them, and shut them out',
    load: async () => (await import('./runners.ts')).runners,
  },
  serve: {
    summary: 'serve many agents over HTTP: MCP at /mcp',
    load: async () => (await import('./serve.ts')).serve,
  },
  terminal: {
    summary: 'a terminal in a sandbox over a workspace, here or on a runner',
    load: async () => (await import('./terminal.ts')).terminal,
  },
  tool: {
    summary:
      'make one tool call: its result on standard output, or its error on standard error and exit code 1; without a name, ' +
      'list the tools',
    load: async () => (await import('./tool.ts')).tool,
  },
};
