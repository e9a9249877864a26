import type { RawData, WebSocket } from 'ws';
import { maxBufferedBytes } from './limits.ts';
import type { Wire, WireEvents } from './wire.ts';

export interface WebSocketWireOptions {
  /** Each side asks so often whether the other is there, and drops one that was silent for two of them. */
  readonly heartbeatMs: number;
  /** Whenever anything comes. */
  onSeen?(): void;
  /** Before this side drops it. */
  onDrop?(reason: string): void;
}

const closeWithinMs = 2000;

/** A socket that is open, and past its handshake. */
export function createWebSocketWire(socket: WebSocket, options: WebSocketWireOptions): Wire {
  let reason = 'the connection ended';
  let isHeld = false;
  let events: WireEvents | undefined;
  const drop = (why: string) => {
    reason = why;
    options.onDrop?.(why);
    socket.terminate();
  };
  // One function for all messages: it is said often.
  const onSent = () => {
    if (!isHeld || socket.bufferedAmount >= maxBufferedBytes) return;
    isHeld = false;
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
      isHeld ||= socket.bufferedAmount >= maxBufferedBytes;
    },
    buffered: () => socket.bufferedAmount,
    end() {
      socket.close(1000);
      setTimeout(() => socket.terminate(), closeWithinMs).unref();
    },
    drop,
  };
}

function listen(socket: WebSocket, events: WireEvents, drop: (why: string) => void, onSeen: () => void): void {
  socket.on('message', (data, isBinary) => {
    onSeen();
    if (isBinary) events.onMessage(toBuffer(data));
    else drop('text came where only frames belong');
  });
  socket.on('ping', onSeen);
  socket.on('pong', onSeen);
  // Its close follows.
  socket.on('error', () => {});
}

/** Answers what is to be called whenever anything came. */
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
