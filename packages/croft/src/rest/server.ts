import { AppError, type Health, type Ready } from '@croft/protocol';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { version } from '../version.ts';
import { createApi } from './api/api.ts';
import type { FlagDoors } from './api/flag-doors.ts';
import { limitBody } from './body-limit.ts';
import { createFace } from './face.ts';
import { checkBearer, checkHost, checkOrigin } from './guards.ts';
import { lingerIfSending } from './linger.ts';
import { toOpenApi } from './open-api.ts';
import { defaultLimits, type Platform } from './platform.ts';
import { createRefusals, type Refusals } from './refusals.ts';

export interface RestOptions {
  /** For `/mcp` and `/api`, and nothing else. */
  readonly token: string;
  /** Names by which this server may be called, besides addresses and localhost. */
  readonly hostNames: readonly string[];
  readonly maxBodyBytes: number;
  /** Accounts and everything of theirs. Left out: there are none. */
  readonly platform?: Platform | undefined;
  /** Workspaces given by flags, at `/api`, behind the same token as `/mcp`. Left out: there is no `/api`. */
  readonly files?: FlagDoors | undefined;
  isStopping(): boolean;
  mcp(request: Request): Promise<Response>;
  onError(error: AppError): void;
}

/** Everything `croft serve` answers. Each guard comes before whatever it guards. */
export function createRestServer(options: RestOptions) {
  const { token, hostNames, maxBodyBytes, platform, files, isStopping, mcp, onError } = options;
  const limits = { ...defaultLimits, ...platform?.limits };
  const refusals = createRefusals(limits.refusalsPerMinute, platform?.now ?? Date.now);
  const server = new Hono()
    .use(async ({ env }, next) => {
      await next();
      lingerIfSending(env);
    })
    .use(async ({ req }, next) => {
      checkHost(req.header('host'), hostNames);
      checkOrigin(req.header('origin'), req.header('host'));
      await next();
    })
    .get('/healthz', (c) => c.json({ status: 'ok', version } satisfies Health));

  if (platform) {
    const document = toOpenApi();
    server
      .get('/', (c) => c.json({ status: 'ok' } satisfies Ready))
      .get('/openapi.json', (c) => c.json(document))
      .use(createFace({ platform, maxBodyBytes, isStopping }));
  }

  server.use(async ({ req }, next) => {
    checkBearer(req.header('authorization'), token);
    if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
    await next();
  });
  if (files) server.route('/api', createApi(files));

  return server
    .all('/mcp', async (c) => {
      await limitBody(c, maxBodyBytes);
      return mcp(c.req.raw);
    })
    .notFound(() => {
      throw new AppError('E_NOT_FOUND', 'there is nothing at this address');
    })
    .onError((thrown, c) => {
      const error = judge(AppError.from(thrown), c, refusals);
      if (error.code === 'E_INTERNAL') onError(error);
      addHeaders(c, error);
      return c.json({ error }, error.traits.status as ContentfulStatusCode);
    });
}

function judge(error: AppError, c: Context, refusals: Refusals): AppError {
  return error.code === 'E_UNAUTHORIZED' ? refusals.judge(error, c.env) : error;
}

/** Nobody knows when somebody deletes something. */
const quotaSeconds = 60;

function addHeaders(c: Context, { code, details, traits: { status } }: AppError): void {
  if (code === 'E_UNAUTHORIZED') c.header('WWW-Authenticate', 'Bearer');
  if (code === 'E_METHOD_NOT_ALLOWED') c.header('Allow', String(details.allowedMethods));
  if (code === 'E_RANGE') c.header('Content-Range', `bytes */${details.size}`);
  if (status === 429) c.header('Retry-After', String(details.retryAfterSeconds ?? quotaSeconds));
}
