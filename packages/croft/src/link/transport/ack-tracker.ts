import { ProtocolFault } from './frames.ts';
import { ackAfterBytes, ackAfterMs } from './link-limits.ts';

/**
 * Tracks which frames were received and acknowledged. Calls `onDue` when an acknowledgement must be sent although no
 * frame waits to carry it.
 */
export function createAckTracker(onDue: () => void) {
  let received = 0;
  let acknowledged = 0;
  let unacknowledgedBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    received: () => received,
    isTold: () => acknowledged === received,
    /** Returns the acknowledgement for the next message and counts it as sent. */
    tell(): number {
      acknowledged = received;
      unacknowledgedBytes = 0;
      return received;
    },
    /** Returns whether the frame is new. Throws a `ProtocolFault` if a frame before it is missing. */
    take(sequence: number, bytes: number): boolean {
      if (sequence <= received) return false;
      if (sequence !== received + 1) throw new ProtocolFault('a frame is missing before this one');
      received = sequence;
      unacknowledgedBytes += bytes;
      if (unacknowledgedBytes >= ackAfterBytes) onDue();
      else becomeDue();
      return true;
    },
    becomeDue,
    clear: () => clearTimeout(timer),
  };

  function becomeDue(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      onDue();
    }, ackAfterMs).unref();
  }
}
