import { encodeFrame, type FrameType, stampFrame } from './frames.ts';
import { batchBytes, fullLinkBytes, maxLinkBytes } from './limits.ts';
import { createUnacknowledged } from './unacknowledged.ts';

/** What a link sends: every frame is kept until the other side has it, and is sent again over the next connection. */
export function createSending() {
  const waiting = createUnacknowledged();
  const roomListeners = new Set<() => void>();
  /** Sequence numbers: the next for this connection, the last that any had, the last that arrived. */
  let next = 1;
  let lastSent = 0;
  let acknowledged = 0;

  return {
    add: (type: FrameType, call: number, channel?: number, payload?: Uint8Array) =>
      waiting.add(encodeFrame(type, call, channel, payload)),
    hasRest: () => next <= waiting.last,
    /** The next frames for one message, with `ack` on them. */
    takeBatch,
    /** Whether the frame with this number was ever handed to a connection. */
    hasSent: (sequence: number) => sequence > 0 && sequence <= lastSent,
    isFull: () => waiting.bytes >= fullLinkBytes,
    isTooFull: () => waiting.bytes > maxLinkBytes,
    /** Called once, when it is full no more. */
    whenRoom: (listener: () => void) => void roomListeners.add(listener),
    /** Answers whether such a frame was sent at all. */
    acknowledge,
    canResumeAfter: (sequence: number) => sequence >= acknowledged && sequence <= lastSent,
    resumeAfter(sequence: number): void {
      acknowledge(sequence);
      next = sequence + 1;
    },
    clear(): void {
      roomListeners.clear();
      waiting.forget(waiting.last);
    },
  };

  function takeBatch(ack: number): Buffer {
    const frames: Buffer[] = [];
    let size = 0;
    for (let frame = waiting.get(next); frame; frame = waiting.get(next)) {
      if (size > 0 && size + frame.length > batchBytes) break;
      frames.push(stampFrame(frame, next, ack));
      size += frame.length;
      next += 1;
    }
    lastSent = Math.max(lastSent, next - 1);
    const [first] = frames;
    return first && frames.length === 1 ? first : Buffer.concat(frames, size);
  }

  function acknowledge(sequence: number): boolean {
    if (sequence > lastSent) return false;
    if (sequence <= acknowledged) return true;
    acknowledged = sequence;
    waiting.forget(sequence);
    // Also what was about to be sent again: it is not kept any more.
    next = Math.max(next, sequence + 1);
    if (roomListeners.size > 0 && waiting.bytes <= fullLinkBytes / 2) announceRoom();
    return true;
  }

  function announceRoom(): void {
    const listeners = [...roomListeners];
    roomListeners.clear();
    for (const listener of listeners) listener();
  }
}
