import { AppError, type RestSchema, toPath } from '@croft/protocol';

/** The schemas of queries say themselves what is wrong, beginning with the name of it. */
export function readQuery<Query>(schema: RestSchema<Query>, given: unknown): Query {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const { issues } = result.error;
  throw new AppError('E_INVALID_INPUT', issues.map(({ message }) => message).join('; '), {
    details: { arguments: issues.map(({ path }) => toPath(path)) },
  });
}
