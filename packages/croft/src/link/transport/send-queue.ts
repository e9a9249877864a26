import { encodeFrame, type FrameType, stampFrame } from './frames.ts';
import { batchBytes, fullLinkBytes, maxLinkBytes } from './link-limits.ts';
import { createUnacknowledgedFrames } from './unacknowledged-frames.ts';

/**
 * Queues the frames of a link. Every frame is kept until the other side acknowledges it, and is sent again over the
 * next connection.
 */
export function createSendQueue() {
  const waiting = createUnacknowledgedFrames();
  const drainListeners = new Set<() => void>();
  /**
   * Sequence numbers: the next one to send over this connection, the last one sent over any, the last one acknowledged.
   */
  let next = 1;
  let lastSent = 0;
  let acknowledged = 0;

  return {
    add: (type: FrameType, call: number, channel?: number, payload?: Uint8Array) =>
      waiting.add(encodeFrame(type, call, channel, payload)),
    hasRest: () => next <= waiting.last,
    /** Takes the next frames for one message and stamps them with `ack`. */
    takeBatch,
    /** Whether the frame with this number was ever passed to a connection. */
    hasSent: (sequence: number) => sequence > 0 && sequence <= lastSent,
    isFull: () => waiting.bytes >= fullLinkBytes,
    isTooFull: () => waiting.bytes > maxLinkBytes,
    /** Calls `listener` once, when the queue is half empty again. */
    whenHalfEmpty: (listener: () => void) => void drainListeners.add(listener),
    /** Removes frames up to `sequence` from the queue. Returns false if the frame was never sent. */
    acknowledge,
    canResumeAfter: (sequence: number) => sequence >= acknowledged && sequence <= lastSent,
    resumeAfter(sequence: number): void {
      acknowledge(sequence);
      next = sequence + 1;
    },
    clear(): void {
      drainListeners.clear();
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
    // Skips frames that were about to be sent again: they are no longer kept.
    next = Math.max(next, sequence + 1);
    if (drainListeners.size > 0 && waiting.bytes <= fullLinkBytes / 2) announceDrained();
    return true;
  }

  function announceDrained(): void {
    const listeners = [...drainListeners];
    drainListeners.clear();
    for (const listener of listeners) listener();
  }
}
