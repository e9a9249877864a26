import { AppError } from '@croft/protocol';
import type { RequestRow } from '../../core/accounts/ports/call-tables.ts';
import type { Tables } from '../../core/accounts/ports/records.ts';
import { sha256 } from '../../lib/crypto/sha256.ts';
import { inTransaction } from '../platform/in-transaction.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';
import type { Route, RouteAnswer, RouteCall } from '../platform/route.ts';
import { adminId } from './identify-caller.ts';

const keptMs = 24 * 60 * 60 * 1000;

interface IdempotentRequest {
  readonly accountId: string;
  readonly key: string;
  readonly hash: string;
}

/**
 * Handles a request with an `Idempotency-Key` only once: the same request again gets the first answer again. The change
 * and its stored answer are one transaction, so that neither exists without the other, on whichever server and whenever
 * it crashes.
 */
export function createIdempotency(platform: RestPlatform, now: () => number) {
  const { vault } = platform;

  return {
    async once(route: Route, call: RouteCall): Promise<RouteAnswer | Response> {
      const { actor, request } = call;
      const key = readKey(request.headers.get('idempotency-key'));
      if (key === undefined) return route.handle(platform, call);
      const asked = { accountId: actor.label === adminId ? adminId : actor.accountId, key, hash: hashOf(call) };
      return inTransaction(platform, async (bound, tables) => {
        await tables.requests.removeBefore(new Date(now() - keptMs).toISOString());
        return (await replay(asked, tables)) ?? keep(asked, await route.handle(bound, call), route, tables);
      });
    },
  };

  async function keep(
    asked: IdempotentRequest,
    answer: RouteAnswer | Response,
    route: Route,
    tables: Tables,
  ): Promise<RouteAnswer> {
    if (answer instanceof Response) throw new AppError('E_INTERNAL', 'an answer that cannot be kept');
    const status = answer.status ?? route.status ?? 200;
    const body = vault.seal(JSON.stringify(answer), about(asked));
    await tables.requests.insert({ ...asked, status, body, createdAt: new Date(now()).toISOString() });
    return answer;
  }

  async function replay(asked: IdempotentRequest, { requests }: Tables): Promise<RouteAnswer | undefined> {
    const row = await requests.get(asked.accountId, asked.key);
    if (!row) return undefined;
    mustBeSame(row, asked);
    const answer: RouteAnswer = JSON.parse(vault.open(row.body, about(asked)));
    return { ...answer, headers: { ...answer.headers, 'Idempotent-Replay': 'true' } };
  }
}

function mustBeSame(row: RequestRow, { key, hash }: IdempotentRequest): void {
  if (row.hash === hash) return;
  throw new AppError('E_IDEMPOTENCY_CONFLICT', 'this Idempotency-Key was used for another request', {
    details: { key },
  });
}

function readKey(header: string | null): string | undefined {
  if (header === null) return undefined;
  if (/^[\x21-\x7e]{1,255}$/.test(header)) return header;
  throw new AppError('E_INVALID_INPUT', 'Idempotency-Key takes 1 to 255 visible characters without spaces', {
    details: { header: 'Idempotency-Key' },
  });
}

/** Includes the caller, because the answer for one key may contain more than another key may see. */
function hashOf({ actor, request, body }: RouteCall): string {
  return sha256(JSON.stringify([actor.label, request.method, new URL(request.url).pathname, body]));
}

function about({ accountId, key }: IdempotentRequest): string {
  return `requests/${accountId}/${key}`;
}
