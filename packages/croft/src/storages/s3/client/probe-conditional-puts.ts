import { randomUUID } from 'node:crypto';
import type { BucketConnection } from './get-object.ts';
import { type EtagForm, putOnce, toCondition } from './put-object.ts';
import { ServiceRefusal } from './service-errors.ts';
import { withRetries } from './with-retries.ts';

export interface ConditionSupport {
  readonly isConditional: boolean;
  readonly reason?: string;
  readonly form: EtagForm;
}

const body = Buffer.from('croft: whether conditional puts are honoured here\n');
const wrong = { etag: 'd41d8cd98f00b204e9800998ecf8427e' };
const forms = ['bare', 'quoted'] as const;

/**
 * Tests with a temporary object whether the service honours conditional puts. Some services refuse conditions, some
 * ignore them.
 */
export async function probeConditionalPuts(wire: BucketConnection, signal?: AbortSignal): Promise<ConditionSupport> {
  const key = `.croft/probe-${randomUUID()}`;
  const put = (headers: Record<string, string> = {}) =>
    withRetries(wire.retries, signal, async () => {
      const answer = await putOnce(wire, key, body, headers, signal);
      const mayPass = answer instanceof ServiceRefusal && answer.status >= 500 && answer.status !== 501;
      if (mayPass) throw answer;
      return answer;
    });
  const made = await put();
  if (made instanceof ServiceRefusal) return withRetries(wire.retries, signal, () => Promise.reject(made));
  try {
    const first = toReason(await put(toCondition('absent', 'bare')), 'If-None-Match');
    if (first !== undefined) return { isConditional: false, reason: first, form: 'bare' };
    return await probeMatch(put, made.etag);
  } finally {
    await wire.transport.send({ method: 'DELETE', key: wire.prefix + key }).then(
      (left) => left.resume(),
      () => {},
    );
  }
}

type Put = (headers: Record<string, string>) => Promise<{ etag: string } | ServiceRefusal>;

async function probeMatch(put: Put, etag: string): Promise<ConditionSupport> {
  for (const form of forms) {
    const reason = toReason(await put(toCondition(wrong, form)), 'If-Match');
    if (reason !== undefined) return { isConditional: false, reason, form };
    const answer = await put(toCondition({ etag }, form));
    if (!(answer instanceof ServiceRefusal)) return { isConditional: true, form };
  }
  const reason = 'it refuses puts with If-Match even when what is there matches';
  return { isConditional: false, reason, form: 'bare' };
}

/** Says why the answer to a put that should have been refused is not acceptable. */
function toReason(answer: { etag: string } | ServiceRefusal, condition: string): string | undefined {
  if (!(answer instanceof ServiceRefusal)) return `it ignores ${condition} on puts`;
  const { status, code } = answer;
  return status === 412 ? undefined : `it refuses puts with ${condition} (${code || `status ${status}`})`;
}
