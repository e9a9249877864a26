import { AppError } from '@croft/protocol';
import type { RequestRow, Tables } from '../core/accounts/records.ts';
import { sha256 } from '../lib/sha256.ts';
import { adminId } from './identity.ts';
import type { Platform } from './platform.ts';
import type { Answer, Route, RouteCall } from './route.ts';
import { inTransaction } from './transaction.ts';

const keptMs = 24 * 60 * 60 * 1000;

interface Asked {
  readonly accountId: string;
  readonly key: string;
  readonly hash: string;
}

/**
 * A request with an `Idempotency-Key` happens once: whoever sends it again gets the first answer again. What it makes
 * and the answer that is kept are one change of the records, so that neither is ever there without the other, whichever
 * server is asked, and whenever it dies.
 */
export function createIdempotency(platform: Platform, now: () => number) {
  const { vault } = platform;

  return {
    async once(route: Route, call: RouteCall): Promise<Answer | Response> {
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

  async function keep(asked: Asked, answer: Answer | Response, route: Route, tables: Tables): Promise<Answer> {
    if (answer instanceof Response) throw new AppError('E_INTERNAL', 'an answer that cannot be kept');
    const status = answer.status ?? route.status ?? 200;
    const body = vault.seal(JSON.stringify(answer), about(asked));
    await tables.requests.insert({ ...asked, status, body, createdAt: new Date(now()).toISOString() });
    return answer;
  }

  async function replay(asked: Asked, { requests }: Tables): Promise<Answer | undefined> {
    const row = await requests.get(asked.accountId, asked.key);
    if (!row) return undefined;
    mustBeSame(row, asked);
    const answer: Answer = JSON.parse(vault.open(row.body, about(asked)));
    return { ...answer, headers: { ...answer.headers, 'Idempotent-Replay': 'true' } };
  }
}

function mustBeSame(row: RequestRow, { key, hash }: Asked): void {
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

/** Of whoever asked, as well: what one key was answered may be more than another may have. */
function hashOf({ actor, request, body }: RouteCall): string {
  return sha256(JSON.stringify([actor.label, request.method, new URL(request.url).pathname, body]));
}

function about({ accountId, key }: Asked): string {
  return `requests/${accountId}/${key}`;
}
