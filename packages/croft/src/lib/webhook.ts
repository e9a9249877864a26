import { createHmac } from 'node:crypto';

export interface WebhookOptions {
  readonly url: string;
  /** Shared with the receiver, who knows by it that a message is ours. */
  readonly secret: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Told of a message that nobody took: what came of it, never what was in it. */
  onLost?(reason: string): void;
  /** Before the second and the third try. */
  readonly pausesMs?: readonly number[];
  readonly timeoutMs?: number;
}

export type Webhook = ReturnType<typeof createWebhook>;

const defaultPausesMs = [1000, 5000];
const defaultTimeoutMs = 10_000;
/** A receiver that is slow must not be slow for all. */
const maxUnderWay = 4;
const maxWaiting = 200;

/**
 * Posts messages to one address, signed as `Croft-Signature: t=<seconds>,v1=<HMAC-SHA-256 of "t.body">`. Whoever sends
 * never waits for it and is never failed by it: what the receiver does not take in three tries is lost, and said so.
 */
export function createWebhook(options: WebhookOptions) {
  const { onLost, pausesMs = defaultPausesMs } = options;
  const waiting: string[] = [];
  const closing = new AbortController();
  let underWay = 0;

  return {
    send(message: { readonly type: string; readonly [field: string]: unknown }): void {
      if (closing.signal.aborted) return;
      if (waiting.length < maxWaiting) waiting.push(JSON.stringify(message));
      else onLost?.(`${maxWaiting} messages wait already`);
      startNext();
    },
    close(): void {
      waiting.length = 0;
      closing.abort();
    },
  };

  function startNext(): void {
    if (underWay >= maxUnderWay) return;
    const body = waiting.shift();
    if (body === undefined) return;
    underWay += 1;
    void deliver(body).finally(() => {
      underWay -= 1;
      startNext();
    });
  }

  async function deliver(body: string): Promise<void> {
    let problem = await post(options, body, closing.signal);
    for (const pauseMs of pausesMs) {
      if (problem === undefined || closing.signal.aborted) return;
      await pause(pauseMs, closing.signal);
      problem = await post(options, body, closing.signal);
    }
    if (problem !== undefined && !closing.signal.aborted) onLost?.(problem);
  }
}

/** What went wrong, if anything. A redirect is followed by nobody: the message is for this address. */
async function post(options: WebhookOptions, body: string, closing: AbortSignal): Promise<string | undefined> {
  const { url, secret, fetch, now, timeoutMs = defaultTimeoutMs } = options;
  const headers = { 'content-type': 'application/json', 'croft-signature': sign(body, secret, now()) };
  const signal = AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]);
  try {
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.ok ? undefined : `it answered ${response.status}`;
  } catch (thrown) {
    return thrown instanceof Error ? toReason(thrown) : 'it could not be reached';
  }
}

function toReason({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return 'it did not answer in time';
  return cause instanceof Error ? cause.message : message;
}

/** Signed anew for each try, so that a receiver may refuse what is old. */
function sign(body: string, secret: string, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Keeps no program alive. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
  });
}
