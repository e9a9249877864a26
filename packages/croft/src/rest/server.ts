import { randomUUID } from 'node:crypto';
import { AppError, type Health, type Readiness, type Ready } from '@croft/protocol';
import { type Context, Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { ReadinessProbe } from '../core/events/readiness.ts';
import { version } from '../version.ts';
import { createAccountDispatcher } from './dispatch/account-dispatcher.ts';
import { noSuchAddress } from './dispatch/match-path.ts';
import { createFlagApi } from './flag-workspaces/flag-api.ts';
import type { FlagWorkspaces } from './flag-workspaces/flag-workspaces.ts';
import { forwardedOf, noteForwarded, refusedHeader } from './forward/forward-header.ts';
import { isForwardRefusal } from './forward/forward-refusal.ts';
import { limitBody } from './http/body-limit.ts';
import { checkBearer, checkHost, checkOrigin } from './http/guards.ts';
import { lingerIfSending } from './http/linger-if-sending.ts';
import { createUnauthorizedLimiter, type UnauthorizedLimiter } from './http/unauthorized-limiter.ts';
import { toOpenApi } from './open-api/open-api.ts';
import type { DocsFiles } from './page/docs-files.ts';
import type { PageFiles } from './page/page-files.ts';
import { createDocs } from './page/serve-docs.ts';
import { createPage } from './page/serve-page.ts';
import { defaultLimits, type RestPlatform } from './platform/rest-platform.ts';

interface RestOptions {
  /** The token for `/mcp` and `/api`. It opens nothing else. */
  readonly token: string;
  /** Names of this server that requests may use, besides IP addresses and localhost. */
  readonly hostNames: readonly string[];
  readonly maxBodyBytes: number;
  /** Everything about accounts. Without it, there are no accounts. */
  readonly platform?: RestPlatform | undefined;
  /** Workspaces that flags name, at `/api`, with the same token as `/mcp`. Without it, there is no `/api`. */
  readonly files?: FlagWorkspaces | undefined;
  /** The page for people. Without it, browsers get what programs get. */
  readonly page?: PageFiles | undefined;
  /** The documentation. Without it, there is no `/docs`. */
  readonly docs?: DocsFiles | undefined;
  /** Checks whether everything that the server needs works. Without it, there is no `/readyz`. */
  readonly readiness?: Pick<ReadinessProbe, 'probe'> | undefined;
  isStopping(): boolean;
  mcp(request: Request): Promise<Response>;
  /** Called for every failure that is a bug. The answer names the same request. */
  onError(error: AppError, requestId: string): void;
}

/** Everything that `croft serve` answers. Each guard comes before what it guards. */
export function createRestServer(options: RestOptions) {
  const { token, hostNames, maxBodyBytes, platform, files, page, docs, readiness, isStopping, mcp, onError } = options;
  const limits = { ...defaultLimits, ...platform?.limits };
  const refusals = createUnauthorizedLimiter(limits.refusalsPerMinute, platform?.now ?? Date.now);
  const server = new Hono()
    .use(async ({ env }, next) => {
      await next();
      lingerIfSending(env);
    })
    .use(async (c, next) => {
      noteForwarded(platform?.cluster, c);
      if (!forwardedOf(c)) {
        checkHost(c.req.header('host'), hostNames);
        checkOrigin(c.req.header('origin'), c.req.header('host'));
      }
      await next();
    })
    .get('/healthz', (c) => c.json({ status: 'ok', version } satisfies Health));

  if (page) server.use(createPage(page));
  if (docs) server.use(createDocs(docs));
  if (readiness) server.get('/readyz', async (c) => tellReadiness(c, readiness, isStopping()));
  if (platform) {
    const document = toOpenApi();
    server
      .get('/', (c) => c.json({ status: 'ok' } satisfies Ready))
      .get('/openapi.json', (c) => c.json(document))
      .use(createAccountDispatcher({ platform, maxBodyBytes, isStopping }));
  }

  server.use(async ({ req }, next) => {
    checkBearer(req.header('authorization'), token);
    if (isStopping()) throw new AppError('E_STOPPING', 'the server is stopping');
    await next();
  });
  if (files) server.route('/api', createFlagApi(files));

  return server
    .all('/mcp', async (c) => {
      await limitBody(c, maxBodyBytes);
      return mcp(c.req.raw);
    })
    .notFound(() => {
      throw noSuchAddress();
    })
    .onError((thrown, c) => {
      const error = judge(AppError.from(thrown), c, refusals);
      const requestId = randomUUID();
      if (error.code === 'E_INTERNAL') onError(error, requestId);
      c.header('X-Request-Id', requestId);
      addHeaders(c, error);
      if (forwardedOf(c) && isForwardRefusal(error)) c.header(refusedHeader, '1');
      return c.json({ error }, error.traits.status as ContentfulStatusCode);
    });
}

/** 503 tells load balancers to send no requests here. */
async function tellReadiness(c: Context, { probe }: Pick<ReadinessProbe, 'probe'>, isStopping: boolean) {
  const { isReady, dependencies } = await probe();
  const status = isStopping ? 'stopping' : isReady ? 'ready' : 'not_ready';
  c.header('Cache-Control', 'no-store');
  return c.json({ status, version, dependencies } satisfies Readiness, status === 'ready' ? 200 : 503);
}

function judge(error: AppError, c: Context, refusals: UnauthorizedLimiter): AppError {
  return error.code === 'E_UNAUTHORIZED' ? refusals.judge(error, c.env) : error;
}

function addHeaders(c: Context, { code, details }: AppError): void {
  if (code === 'E_UNAUTHORIZED') c.header('WWW-Authenticate', 'Bearer');
  if (code === 'E_METHOD_NOT_ALLOWED') c.header('Allow', String(details.allowedMethods));
  if (code === 'E_RANGE') c.header('Content-Range', `bytes */${details.size}`);
  if (code === 'E_RATE_LIMITED') c.header('Retry-After', String(details.retryAfterSeconds));
}
