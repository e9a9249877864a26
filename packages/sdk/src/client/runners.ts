import { type CreateRunner, Deleted, Runner, RunnerList, RunnerMade } from '@croft/protocol';
import type { z } from 'zod';
import type { CreateOptions } from './collections.ts';
import { path, type Request } from './request.ts';

/** Runners of an account. The token of a runner is returned when it is created or rotated, and never again. */
export function createRunners(request: Request, base = '/v1') {
  return {
    create: (body: z.input<typeof CreateRunner>, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', `${base}/runners`, { answer: RunnerMade, body, headers: { 'idempotency-key': idempotencyKey } }),
    list: async (): Promise<Runner[]> => (await request('GET', `${base}/runners`, { answer: RunnerList })).runners,
    get: (name: string) => request('GET', `${base}${path`/runners/${name}`}`, { answer: Runner }),
    rotate: (name: string, { idempotencyKey }: CreateOptions = {}) =>
      request('POST', `${base}${path`/runners/${name}/rotate`}`, {
        answer: RunnerMade,
        headers: { 'idempotency-key': idempotencyKey },
      }),
    revoke: async (name: string): Promise<void> => {
      await request('DELETE', `${base}${path`/runners/${name}`}`, { answer: Deleted });
    },
  };
}
