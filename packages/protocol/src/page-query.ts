import { z } from 'zod';
import { must } from './field-schemas.ts';

const maxLimit = 200;
const range = must(`be an integer from 1 to ${maxLimit}`);

/** Selects a page of a list. */
export const PageQuery = z.object({
  limit: z.coerce.number(range).int(range).min(1, range).max(maxLimit, range).prefault(50),
  /** `next` of the previous page. */
  after: z
    .string(must('be a string'))
    .regex(/^[A-Za-z0-9_]{1,64}$/, must('be `next` of another page'))
    .optional(),
});
export type PageQuery = z.output<typeof PageQuery>;

/** Stands beside the rows of a list. Absent on the last page. */
export const pageFields = { next: z.string().optional() };
