import { z } from 'zod';
import { exactly, must, positiveInteger } from './field-schemas.ts';

const maxServers = 16;
const maxTools = 128;
const maxWords = 64;

/** No `__`, and no `_` at the end, so that `mcp__<server>__<tool>` can be read in one way only. */
const serverName = /^(?!.*__)[a-z0-9](?:[a-z0-9_-]{0,30}[a-z0-9-])?$/;

const Word = z
  .string(must('be a string'))
  .max(4096, must('be at most 4096 characters long'))
  .refine((text) => text.isWellFormed() && !text.includes('\0'), must('be text without NUL'));

const Directory = Word.refine(
  (path) => !path.startsWith('/') && !path.split('/').includes('..'),
  must('be a path inside the workspace, from its root'),
);

const Variables = z
  .record(z.string(), Word, must('be an object of names and values'))
  .refine((variables) => Object.keys(variables).length <= maxWords, must(`have at most ${maxWords} variables`))
  .refine(
    (variables) => Object.keys(variables).every((name) => /^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)),
    must('have names of letters, numbers and underscores'),
  );

/**
 * A program that speaks MCP over standard input and output. It runs in the sandbox of the session that calls its tools.
 */
export const McpServer = exactly({
  type: z.literal('stdio', must('be stdio: no other kind of server runs in a sandbox')).optional(),
  command: Word.min(1, must('be a non-empty string')),
  args: z
    .array(Word, must('be an array'))
    .max(maxWords, must(`have at most ${maxWords} entries`))
    .optional(),
  /**
   * Its environment, besides the variables of every command in the sandbox. `${secret:NAME}` in a value is that secret.
   */
  env: Variables.optional(),
  /** Working directory, relative to the workspace root. Default: the root. */
  cwd: Directory.optional(),
  /** The tools of the server that agents get. Default: all. */
  tools: z
    .array(Word.regex(/^[A-Za-z0-9_-]{1,64}$/, must('be the name of a tool')), must('be an array'))
    .max(maxTools, must(`have at most ${maxTools} entries`))
    .optional(),
  /** Limit for one call. */
  timeoutSeconds: positiveInteger(600).optional(),
});
export type McpServer = z.output<typeof McpServer>;

export const McpServers = z
  .record(z.string(), McpServer, must('be an object of servers by name'))
  .refine((servers) => Object.keys(servers).length <= maxServers, must(`have at most ${maxServers} servers`))
  .refine(
    (servers) => Object.keys(servers).every(isMcpServerName),
    must('have names of at most 32 lower-case letters, numbers, - and single _'),
  );
export type McpServers = z.output<typeof McpServers>;

export function isMcpServerName(name: string): boolean {
  return serverName.test(name);
}
