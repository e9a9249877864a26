import type { JSONRPCNotification } from '@modelcontextprotocol/server';

/** Well below the minute after which clients give up on a silent call. */
const everyMs = 3000;

export interface ProgressNotificationsOptions {
  /**
   * The progress token in `_meta` of the request. A value that is neither a string nor a number means that the client
   * wants no progress.
   */
  readonly token: unknown;
  readonly tool: string;
  send(notification: JSONRPCNotification): void;
}

export type Progress = ReturnType<typeof createProgressNotifications>;

/**
 * Tells a client every few seconds that its call is running and what it does, until `stop`. Used by the fast lane and
 * by the protocol layer. Does nothing without a token.
 */
export function createProgressNotifications({ token, tool, send }: ProgressNotificationsOptions) {
  if (typeof token !== 'string' && typeof token !== 'number') return silence;
  const startedAt = performance.now();
  let [last, describe]: [number, (() => string) | undefined] = [0, undefined];
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const say = (message: string) => {
    // The protocol requires each value to be larger than the one before.
    last = Math.max(last + 1, seconds());
    const params = { progressToken: token, progress: last, message };
    send({ jsonrpc: '2.0', method: 'notifications/progress', params });
  };
  const timer = setInterval(() => {
    const activity = describe?.() ?? '';
    say(`${tool} has been running for ${seconds()} s${activity === '' ? '' : `: ${activity}`}`);
  }, everyMs);
  return {
    say,
    /** Sets the current activity of the call. `activity` is called when progress is sent. */
    onActivity: (activity: () => string): void => {
      describe = activity;
    },
    stop: (): void => clearInterval(timer),
  };
}

const silence = { say: undefined, onActivity: undefined, stop: () => {} };

/** Returns the progress token of a request's `_meta`, if there is one. */
export function progressTokenIn(params: unknown): unknown {
  const meta = typeof params === 'object' && params !== null && '_meta' in params ? params._meta : undefined;
  return typeof meta === 'object' && meta !== null && 'progressToken' in meta ? meta.progressToken : undefined;
}
