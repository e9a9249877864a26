import { AppError, type RestSchema, toPath } from '@croft/protocol';

/** The messages of query schemas already begin with the name of the argument. */
export function readQuery<Query>(schema: RestSchema<Query>, given: unknown): Query {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const { issues } = result.error;
  throw new AppError('E_INVALID_INPUT', issues.map(({ message }) => message).join('; '), {
    details: { arguments: issues.map(({ path }) => toPath(path)) },
  });
}
