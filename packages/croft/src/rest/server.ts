import { AppError, type Health } from '@croft/protocol';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { version } from '../version.ts';
import { checkBearer, checkHost, checkOrigin } from './guards.ts';

export interface RestOptions {
  readonly token: string;
  /** Names by which this server may be called, besides addresses and localhost. */
  readonly hostNames: readonly string[];
  readonly maxBodyBytes: number;
  isStopping(): boolean;
  mcp(request: Request): Promise<Response>;
  onError(error: AppError): void;
}

/** Everything `croft serve` answers. Each guard comes before whatever it guards. */
export function createRestServer({ token, hostNames, maxBodyBytes, isStopping, mcp, onError }: RestOptions) {
  return new Hono()
    .use(async ({ req }, next) => {
      checkHost(req.header('host'), hostNames);
      checkOrigin(req.header('origin'), req.header('host'));
      await next();
    })
    .get('/healthz', (c) => c.json({ status: 'ok', version } satisfies Health))
    .use(async ({ req }, next) => {
      checkBearer(req.header('authorization'), token);
      if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
      await next();
    })
    .use(bodyLimit({ maxSize: maxBodyBytes, onError: () => tooLarge(maxBodyBytes) }))
    .all('/mcp', (c) => mcp(c.req.raw))
    .notFound(() => {
      throw new AppError('E_NOT_FOUND', 'there is nothing at this address');
    })
    .onError((thrown, c) => {
      const error = AppError.from(thrown);
      if (error.code === 'E_INTERNAL') onError(error);
      if (error.code === 'E_UNAUTHORIZED') c.header('WWW-Authenticate', 'Bearer');
      return c.json({ error }, error.traits.status as ContentfulStatusCode);
    });
}

function tooLarge(max: number): never {
  throw new AppError('E_TOO_LARGE', `the request body is over ${max} bytes`, { details: { max } });
}
