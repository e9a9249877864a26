import type { Command } from '../command.ts';

/** Each command is loaded when it is used: servers are large, and most commands need little of them. */
export const commands: Readonly<Record<string, () => Promise<Command>>> = {
  approvals: async () => (await import('./approvals.ts')).approvals,
  audit: async () => (await import('./audit.ts')).audit,
  doctor: async () => (await import('./doctor.ts')).doctor,
  du: async () => (await import('./du.ts')).du,
  keys: async () => (await import('./keys.ts')).keys,
  mcp: async () => (await import('./mcp.ts')).mcp,
  open: async () => (await import('./open.ts')).open,
  runner: async () => (await import('./runner.ts')).runner,
  runners: async () => (await import('./runners.ts')).runners,
  serve: async () => (await import('./serve.ts')).serve,
  terminal: async () => (await import('./terminal.ts')).terminal,
  tool: async () => (await import('./tool.ts')).tool,
};

export function loadCommands(): Promise<Command[]> {
  return Promise.all(Object.values(commands).map((load) => load()));
}
