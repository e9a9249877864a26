import { ProtocolFault } from './frames.ts';
import { ackAfterBytes, ackAfterMs } from './limits.ts';

/** What a link has received. `onDue` when the other side should be told, although nothing is on its way to it. */
export function createReceiving(onDue: () => void) {
  let received = 0;
  let told = 0;
  let untoldBytes = 0;
  let timer: NodeJS.Timeout | undefined;

  return {
    received: () => received,
    isTold: () => told === received,
    /** What goes with the next message. */
    tell(): number {
      told = received;
      untoldBytes = 0;
      return received;
    },
    /** Answers whether it is new. Throws for one that comes before its turn. */
    take(sequence: number, bytes: number): boolean {
      if (sequence <= received) return false;
      if (sequence !== received + 1) throw new ProtocolFault('a frame is missing before this one');
      received = sequence;
      untoldBytes += bytes;
      if (untoldBytes >= ackAfterBytes) onDue();
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
