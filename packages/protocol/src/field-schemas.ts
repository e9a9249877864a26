import { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** Makes a message that begins with the path of the field: `config.timeout must be a positive integer`. */
export function must(what: string) {
  return { error: (issue: Issue) => `${toPath(issue.path)} must ${what}` };
}

/** Like `must`, for an element of a list: the message names the list. */
export function wholeMust(what: string) {
  return { error: (issue: Issue) => `${toPath(issue.path?.slice(0, -1))} must ${what}` };
}

/** An object with only these fields. A misspelt field is refused instead of ignored. */
export function exactly<Shape extends z.ZodRawShape>(shape: Shape) {
  const names = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `${toPath(issue.path)} has ${issue.keys.join(', ')}, and takes only: ${names}`
        : `${toPath(issue.path)} must be an object`,
  });
}

export function mustBeOneOf(names: readonly string[]) {
  return must(`be one of: ${names.join(', ')}`);
}

/** Writes a path as `config.workspaces[0].name`. */
export function toPath(path: readonly PropertyKey[] = []): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  return text === '' ? 'Request body' : text.replace(/^\./, '');
}

export function positiveInteger(max?: number) {
  const positive = z.int(must('be a positive integer')).min(1, must('be a positive integer'));
  return max === undefined ? positive : positive.max(max, must(`be an integer from 1 to ${max}`));
}

export const NonEmpty = z.string(must('be a non-empty string')).min(1, must('be a non-empty string'));

const required = {
  error: (issue: Issue) => `${toPath(issue.path)} ${issue.input === undefined ? 'is required' : 'must be a string'}`,
};
const missing = { error: (issue: Issue) => `${toPath(issue.path)} is required` };

/** A name that a person gives. Trimmed, in one normal form of Unicode, on one line. */
export const Name = z
  .string(required)
  .trim()
  .normalize('NFC')
  .min(1, missing)
  .max(200, must('be at most 200 characters long'))
  .refine((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), must('not have control characters'));

export const Description = z
  .string(must('be a string'))
  .max(2000, must('be at most 2000 characters long'))
  .refine((text) => text.isWellFormed() && !text.includes('\0'), must('be text without NUL'));

/** The fields of every record besides its id and its config. */
export const recordFields = {
  accountId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  /** Increases with every change; the `ETag` of the record. */
  version: z.int().positive(),
  /** In the answer to a change: fields of the request that mean nothing and were dropped, such as a misspelt one. */
  ignored: z.array(z.string()).optional(),
};

/** A config in a PATCH, merged into the stored one: `null` deletes a field, and `********` keeps its value. */
export const ConfigPatch = z.record(z.string(), z.unknown(), must('be an object'));

export const RecordPatch = z.object(
  { name: Name.optional(), description: Description.nullish(), config: ConfigPatch.optional() },
  must('be an object'),
);
export type RecordPatch = z.output<typeof RecordPatch>;
