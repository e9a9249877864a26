import type { RawData, WebSocket } from 'ws';
import { maxBufferedBytes } from './link-limits.ts';
import type { LinkWire, LinkWireEvents } from './link-wire.ts';

interface WebSocketWireOptions {
  /** Each side pings this often, and drops a connection that was silent for two intervals. */
  readonly heartbeatMs: number;
  /** Called whenever anything arrives. */
  onSeen?(): void;
  /** Called before this side drops the connection. */
  onDrop?(reason: string): void;
}

const closeWithinMs = 2000;

/** Wraps a WebSocket that is open and past the greeting. */
export function createWebSocketWire(socket: WebSocket, options: WebSocketWireOptions): LinkWire {
  let reason = 'the connection ended';
  let isCongested = false;
  let events: LinkWireEvents | undefined;
  const drop = (why: string) => {
    reason = why;
    options.onDrop?.(why);
    socket.terminate();
  };
  // One function for all messages, because it is called very often.
  const onSent = () => {
    if (!isCongested || socket.bufferedAmount >= maxBufferedBytes) return;
    isCongested = false;
    events?.onDrain();
  };

  return {
    start(given) {
      events = given;
      listen(socket, given, drop, keepAlive(socket, options, drop));
      socket.once('close', () => given.onClose(reason));
    },
    send(message) {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(message, onSent);
      isCongested ||= socket.bufferedAmount >= maxBufferedBytes;
    },
    buffered: () => socket.bufferedAmount,
    end() {
      socket.close(1000);
      setTimeout(() => socket.terminate(), closeWithinMs).unref();
    },
    respondsWithin: (withinMs) => ping(socket, withinMs),
    drop,
  };
}

async function ping(socket: WebSocket, withinMs: number): Promise<boolean> {
  if (socket.readyState !== socket.OPEN) return false;
  const heard = Promise.withResolvers<boolean>();
  const [onSeen, onClose] = [() => heard.resolve(true), () => heard.resolve(false)];
  const timer = setTimeout(onClose, withinMs);
  const events = ['message', 'ping', 'pong'] as const;
  for (const event of events) socket.once(event, onSeen);
  socket.once('close', onClose);
  socket.ping();
  try {
    return await heard.promise;
  } finally {
    clearTimeout(timer);
    for (const event of events) socket.off(event, onSeen);
    socket.off('close', onClose);
  }
}

function listen(socket: WebSocket, events: LinkWireEvents, drop: (why: string) => void, onSeen: () => void): void {
  socket.on('message', (data, isBinary) => {
    onSeen();
    if (isBinary) events.onMessage(toBuffer(data));
    else drop('a text message came, and only binary frames are allowed');
  });
  socket.on('ping', onSeen);
  socket.on('pong', onSeen);
  // A `close` event follows.
  socket.on('error', () => {});
}

/** Starts the heartbeat. Returns the function to call whenever anything arrives. */
function keepAlive(socket: WebSocket, { heartbeatMs, onSeen }: WebSocketWireOptions, drop: (why: string) => void) {
  let silentBeats = 0;
  const beat = () => {
    silentBeats += 1;
    if (silentBeats > 2) drop(`nothing was heard for ${(2 * heartbeatMs) / 1000} s`);
    else if (socket.readyState === socket.OPEN) socket.ping();
  };
  const heart = setInterval(beat, heartbeatMs).unref();
  socket.once('close', () => clearInterval(heart));
  return () => {
    silentBeats = 0;
    onSeen?.();
  };
}

function toBuffer(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
