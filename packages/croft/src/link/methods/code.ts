import { z } from 'zod';
import { defineMethod, Id, InsidePath, PathText } from './define-method.ts';

/** Answers arrive as JSON on channel 0. Parsing more would hold the main thread of the server for too long. */
export const codeChannel = 0;
export const maxAnswerBytes = 4 * 1024 * 1024;
/** A server asks for no more references at once. */
const maxLocations = 1000;
const maxEdits = 20_000;
const maxActions = 50;
const maxDiagnostics = 10_000;
const maxNodes = 500;

export const Count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
export const Short = z.string().max(1000);
export const Line = z.string().max(8192);

const symbol = {
  symbol: Short.optional(),
  file_path: PathText.optional(),
  line: Count.optional(),
  col: Count.optional(),
};

/**
 * A method by which the server asks about the code of a workspace. `mode` is that of the server; the runner uses its own
 * if that allows less. The runner says as messages what it is doing.
 */
function defineQuestion<Shape extends z.ZodRawShape, Answer extends z.ZodType>(
  name: string,
  question: Shape,
  answer: Answer,
) {
  const params = z.strictObject({ place: Id, mode: z.enum(['safe', 'full']), question: z.strictObject(question) });
  return { ...defineMethod(`code.${name}`, params, z.null()), sent: answer };
}

export const CodeActivity = z.object({ activity: z.string().max(300) });

/**
 * Whether the path of a location is valid: only a location outside the workspace may have a path that does not lie in
 * it.
 */
function isWhere({ path, isExternal }: { readonly path: string; readonly isExternal: boolean }): boolean {
  return isExternal || InsidePath.min(1).safeParse(path).success;
}

const Location = z
  .object({
    path: Line,
    line: Count,
    col: Count,
    text: Short,
    external: z.literal(true).optional(),
    in: Short.optional(),
    body: z.string().optional(),
  })
  .refine(({ path, external = false }) => isWhere({ path, isExternal: external }), 'is not a path of the workspace');
const found = {
  at: Line,
  items: z.array(Location).max(maxLocations),
  precision: z.enum(['server', 'text']),
  complete: z.boolean(),
  notes: z.array(Line).max(20),
};
const Position = z.object({ line: Count, character: Count });
const Target = z.object({ path: InsidePath, word: Short, position: Position });
const TextEdit = z.object({ range: z.object({ start: Position, end: Position }), newText: z.string() });
const edits = {
  files: z
    .array(z.object({ path: InsidePath.min(1), edits: z.array(TextEdit) }))
    .refine((files) => files.reduce((sum, file) => sum + file.edits.length, 0) <= maxEdits, 'are too many edits'),
  moves: z.array(z.object({ from: InsidePath.min(1), to: InsidePath.min(1) })).max(maxLocations),
};

export const findDefinitions = defineQuestion(
  'definitions',
  { ...symbol, of: z.enum(['definitions', 'implementations']), withBody: z.boolean() },
  z.object(found),
);

export const findReferences = defineQuestion(
  'references',
  { ...symbol, withDeclaration: z.boolean(), limit: z.int().min(1).max(maxLocations), cursor: Short.optional() },
  z.object({ ...found, total: Count, start: Count, next: Short.optional() }),
);

export const describeSymbol = defineQuestion(
  'hover',
  symbol,
  z.object({ path: InsidePath, line: Count, col: Count, content: z.string().max(64 * 1024) }),
);

export const findCalls = defineQuestion(
  'calls',
  { ...symbol, direction: z.enum(['in', 'out']), depth: z.int().min(1).max(3) },
  z.object({
    target: Target,
    complete: z.boolean(),
    nodes: z
      .array(
        z
          .object({
            path: Line,
            line: Count,
            col: Count,
            name: Short,
            kind: Short,
            depth: z.int().min(1).max(3),
            isRepeated: z.boolean(),
            isExternal: z.boolean(),
          })
          .refine(isWhere, 'is not a path of the workspace'),
      )
      .max(maxNodes),
  }),
);

const Diagnostic = z.object({
  line: Count,
  col: Count,
  severity: z.enum(['error', 'warning', 'information', 'hint']),
  code: Short.optional(),
  source: Short.optional(),
  message: Short,
});
export const readDiagnostics = defineQuestion(
  'diagnostics',
  { path: PathText, onlyRunning: z.boolean().optional() },
  z.object({ path: InsidePath, isAsked: z.boolean(), items: z.array(Diagnostic).max(maxDiagnostics).optional() }),
);

export const renameSymbol = defineQuestion(
  'rename',
  { ...symbol, newName: Short },
  z.object({ target: Target, complete: z.boolean(), ...edits }),
);

export const updateImports = defineQuestion('move', { from: PathText, to: PathText }, z.object(edits));

export const proposeActions = defineQuestion(
  'actions',
  { file_path: PathText, line: Count, end_line: Count.optional(), kind: Short.optional() },
  z.array(z.object({ title: Short, kind: Short, edits: z.object(edits).optional() })).max(maxActions),
);
