import { z } from 'zod';
import { Count, Line, Short } from './code.ts';
import { defineMethod, Id, InsidePath } from './define-method.ts';

/** As many as an index answers at most. */
const [maxHits, maxTexts, maxStale, maxTerms] = [200, 20, 201, 12];
const maxForms = 20;
const maxSymbols = 5000;
const maxFocus = 100;

const Query = z.strictObject({
  terms: z
    .array(z.strictObject({ forms: z.array(Short).min(1).max(maxForms).readonly(), isLiteral: z.boolean() }))
    .min(1)
    .max(maxTerms)
    .readonly(),
  joined: Short,
  name: Short.optional(),
});
const Path = InsidePath.min(1);

/**
 * A question to the index of a workspace. The answer is JSON on channel 0, as for the other questions about code; `null`
 * if the index cannot answer.
 */
function defineIndexQuestion<Shape extends z.ZodRawShape, Answer extends z.ZodType>(
  name: string,
  question: Shape,
  answer: Answer,
) {
  const params = z.strictObject({ place: Id, question: z.strictObject(question) });
  return { ...defineMethod(`code-index.${name}`, params, z.null()), sent: answer.nullable() };
}

export const searchIndex = defineIndexQuestion(
  'search',
  { query: Query, scope: InsidePath, language: Short.optional(), kind: Short.optional() },
  z.object({
    hits: z
      .array(
        z.object({
          ...{ path: Path, line: Count, kind: Short, name: Line.optional(), text: Line, doc: Line.optional() },
          score: z.number().min(0),
        }),
      )
      .max(maxHits),
    rarity: z.array(z.number().min(0)).max(maxTerms),
    texts: z.array(Path).max(maxTexts),
    stale: z.array(Path).max(maxStale),
  }),
);

export const mapIndex = defineIndexQuestion(
  'map',
  { focus: z.array(Line).max(maxFocus).readonly(), limit: z.int().min(1).max(maxSymbols) },
  z.object({
    symbols: z.array(z.object({ path: Path, line: Count, kind: Short, name: Line, signature: Line })).max(maxSymbols),
    isComplete: z.boolean(),
  }),
);
