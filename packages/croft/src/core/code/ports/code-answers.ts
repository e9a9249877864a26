import { z } from 'zod';

/** A place in the code, as tools answer it. */
export const SourceLocation = z.object({
  path: z.string(),
  line: z.int(),
  col: z.int(),
  text: z.string().describe('The line, without its indentation'),
  external: z.literal(true).optional().describe('Outside the workspace: path is that of the sandbox'),
  in: z.string().optional().describe('The definition around it'),
  body: z.string().optional(),
});
export type SourceLocation = z.output<typeof SourceLocation>;

/** How the places were found: by a language server, by a parser, or by the text alone. */
const precision = z.enum(['server', 'syntax', 'text']);

export const answerFields = {
  precision,
  complete: z.boolean().describe('False: there may be more; the notes say why'),
  notes: z.array(z.string()),
};

/** In the order of the protocol, which numbers them from 1. */
export const severities = ['error', 'warning', 'information', 'hint'] as const;

/** A message of a language server about a line, as tools answer it. */
export const CodeDiagnostic = z.object({
  line: z.int(),
  col: z.int(),
  severity: z.enum(severities),
  code: z.string().optional(),
  source: z.string().optional(),
  message: z.string(),
});
export type CodeDiagnostic = z.output<typeof CodeDiagnostic>;
