import { z } from 'zod';
import { defineForm } from './read-arguments.ts';

/** The `cwd` argument, as several tools take it. */
export const cwd = z
  .string()
  .min(1)
  .optional()
  .describe('Directory to run in, for this call only; where cd has gone, or the workspace root, if left out');

/** Shows the directory in an approval. Quoted, so that it cannot look like another line of the command. */
export function renderCwd(directory: string | undefined): string {
  return directory === undefined ? '' : `(in ${JSON.stringify(directory)})\n`;
}

/** Names of the argument in other systems. */
export const cwdAliases = { workdir: 'cwd', working_directory: 'cwd', work_dir: 'cwd', directory: 'cwd', dir: 'cwd' };

/** Accepts `timeout_ms`, for tools that count in seconds. */
export const timeoutInMs = defineForm(z.object({ timeout_ms: z.number().positive() }), ({ timeout_ms }) => ({
  timeout: Math.ceil(timeout_ms / 1000),
}));

/** Accepts `file`, for tools that take a list of files. */
export const oneFile = defineForm(z.object({ file: z.string().min(1) }), ({ file }) => ({ files: [file] }));
