import { createHmac } from 'node:crypto';

export interface WebhookOptions {
  readonly url: string;
  /** Shared with the receiver, who verifies by its signature that a message comes from this server. */
  readonly secret: string;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => Date;
  /** Called when a message is lost. `reason` is the outcome of the delivery and never contains the message. */
  onLost?(reason: string): void;
  /** Pauses before the second and the third try. */
  readonly pausesMs?: readonly number[];
  readonly timeoutMs?: number;
}

export type Webhook = ReturnType<typeof createWebhook>;

const defaultPausesMs = [1000, 5000];
const defaultTimeoutMs = 10_000;
/** Several deliveries run at once, so that one slow answer does not delay all messages. */
const maxUnderWay = 4;
const maxWaiting = 200;

/**
 * Posts messages to one address, signed as `Croft-Signature: t=<seconds>,v1=<HMAC-SHA-256 of "t.body">`. `send` never
 * waits and never fails. A message that the receiver does not accept in three tries is lost, and `onLost` is called.
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
      else onLost?.(`${maxWaiting} messages are already waiting`);
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

/**
 * Returns what went wrong, or `undefined`. Does not follow redirects, because the message is meant for this address
 * only.
 */
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

/** Signs each try with its own time, so that a receiver may reject old messages. */
function sign(body: string, secret: string, now: Date): string {
  const seconds = Math.floor(now.getTime() / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** Waits without keeping the program alive. */
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
