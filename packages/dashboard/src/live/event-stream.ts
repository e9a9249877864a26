import type { AccountEvent } from '@croft/protocol';
import { signal } from '@preact/signals';

/** Whether events arrive. `connecting` is the first time, `away` every later one. */
export const connection = signal<'connecting' | 'live' | 'away'>('connecting');
/** Time of the last sign of life of the stream, in milliseconds since 1970. */
export const lastLiveAt = signal(Date.now());

type Message =
  | { readonly kind: 'event'; readonly id: string; readonly event: AccountEvent }
  | { readonly kind: 'state'; readonly state: 'live' | 'away' };

interface StreamOptions {
  readonly accountId: string;
  /** Position in the audit trail up to which the page has read lists. */
  readonly after: string | undefined;
  onEvent(event: AccountEvent): void;
  /** The stream has ended for good: the session may be over. */
  onEnd(): void;
}

/**
 * One connection for all tabs of this browser: HTTP/1.1 has six for each host. The tab that has the lock reads the
 * stream and tells the others. When it goes, the next one continues after the last event that it was told.
 */
export function followEvents({ accountId, after, onEvent, onEnd }: StreamOptions): { stop(): void } {
  const name = `croft-events-${accountId}`;
  const channel = new BroadcastChannel(name);
  const stopping = new AbortController();
  let last = after;
  const take = (message: Message): void => {
    setConnection(message.kind === 'state' ? message.state : 'live');
    if (message.kind === 'state') return;
    if (message.id !== '') last = message.id;
    onEvent(message.event);
  };
  const tell = (message: Message): void => {
    take(message);
    channel.postMessage(message);
  };
  channel.onmessage = ({ data }: MessageEvent<Message | 'hello'>) => {
    if (data !== 'hello') take(data);
    else if (isLeader) channel.postMessage({ kind: 'state', state: connection.peek() === 'live' ? 'live' : 'away' });
  };
  let isLeader = false;
  const lead = () => {
    isLeader = true;
    return readStream(() => last, stopping.signal, tell, onEnd);
  };
  channel.postMessage('hello');
  if (navigator.locks) void navigator.locks.request(name, { signal: stopping.signal }, lead).catch(() => {});
  else void lead();
  return {
    stop() {
      stopping.abort();
      channel.close();
    },
  };
}

const slowestMs = 10_000;

/** The browser resumes by itself, until the server refuses: then another stream is opened, or it was the session. */
async function readStream(
  position: () => string | undefined,
  signal: AbortSignal,
  tell: (message: Message) => void,
  onEnd: () => void,
): Promise<void> {
  for (let waitMs = 500; !signal.aborted; waitMs = Math.min(slowestMs, waitMs * 2)) {
    const wasOpen = await readOnce(position(), signal, tell);
    if (signal.aborted) return;
    tell({ kind: 'state', state: 'away' });
    onEnd();
    if (wasOpen) waitMs = 500;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

function readOnce(after: string | undefined, signal: AbortSignal, tell: (message: Message) => void): Promise<boolean> {
  const source = new EventSource(`/v1/events${after === undefined ? '' : `?after=${encodeURIComponent(after)}`}`);
  return new Promise((resolve) => {
    let wasOpen = false;
    const over = new AbortController();
    const end = () => {
      over.abort();
      source.close();
      resolve(wasOpen);
    };
    const either = { signal: AbortSignal.any([signal, over.signal]) };
    signal.addEventListener('abort', end, { once: true });
    // A connection that is gone is quiet: the browser knows it first, and afterwards a new one is needed.
    window.addEventListener('offline', () => tell({ kind: 'state', state: 'away' }), either);
    window.addEventListener('online', end, either);
    source.onopen = () => {
      wasOpen = true;
      tell({ kind: 'state', state: 'live' });
    };
    source.onmessage = ({ data, lastEventId }: MessageEvent<string>) =>
      tell({ kind: 'event', id: lastEventId, event: JSON.parse(data) as AccountEvent });
    source.onerror = () => {
      if (source.readyState === EventSource.CLOSED) end();
      else tell({ kind: 'state', state: 'away' });
    };
  });
}

function setConnection(state: 'live' | 'away'): void {
  if (state === 'live') lastLiveAt.value = Date.now();
  else if (connection.peek() === 'live') lastLiveAt.value = Date.now();
  connection.value = state;
}
