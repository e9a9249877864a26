import { AppError, ErrorEnvelope, Health } from '@croft/protocol';
import type { z } from 'zod';

export { AppError } from '@croft/protocol';

export interface ClientOptions {
  readonly baseUrl: string;
  readonly token?: string;
  readonly fetch?: typeof globalThis.fetch;
}

export type Client = ReturnType<typeof createClient>;

/** A typed client of `croft serve`. Every failure is an `AppError` with the server's own code. */
export function createClient({ baseUrl, token, fetch = globalThis.fetch }: ClientOptions) {
  return {
    health: (): Promise<Health> => request(Health, 'GET', '/healthz'),
  };

  async function request<Schema extends z.ZodType>(
    schema: Schema,
    method: string,
    path: string,
  ): Promise<z.output<Schema>> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(new URL(path, baseUrl), { method, headers });
    if (!response.ok) throw await toAppError(response);
    return schema.parse(await response.json());
  }
}

/** A proxy may answer with HTML, so a body we do not recognise is a failure of its own. */
async function toAppError(response: Response): Promise<AppError> {
  const body = ErrorEnvelope.safeParse(await response.json().catch(() => undefined));
  if (!body.success) return new AppError('E_INTERNAL', `the server answered ${response.status} without a reason`);
  const { code, message, details } = body.data.error;
  return new AppError(code, message, { details });
}
