import type { Link } from '../../src/link/transport/link.ts';
import type { LinkWire, LinkWireEvents } from '../../src/link/transport/link-wire.ts';

/** Returns a random number below `limit`; the same numbers for the same seed. */
export type Dice = (limit: number) => number;

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** How many of a thousand messages get each fault. */
export interface Faults {
  readonly cut: number;
  readonly corrupt: number;
  readonly truncate: number;
  readonly duplicate: number;
  readonly blackHole: number;
  readonly delay: number;
}

/** One connection that breaks sooner or later. Each end notices in its own time. */
export function createHostileCable(dice: Dice, faults: Faults): [LinkWire, LinkWire] {
  const events: (LinkWireEvents | undefined)[] = [];
  let isCut = false;
  let isBlackHole = false;
  const happens = (chance: number) => dice(1000) < chance;
  const later = (turns: number, work: () => void): void =>
    void setImmediate(() => (turns > 0 ? later(turns - 1, work) : work()));
  const cut = () => {
    if (isCut) return;
    isCut = true;
    for (const end of [0, 1]) later(dice(20), () => events[end]?.onClose('cut'));
  };

  const createEnd = (own: number): LinkWire => {
    const queue: Buffer[] = [];
    let isMoving = false;
    const move = () => {
      isMoving = false;
      const message = queue.shift();
      if (!message || isCut || isBlackHole) return;
      deliver(message);
      schedule();
    };
    const schedule = () => {
      if (isMoving) return;
      isMoving = true;
      later(happens(faults.delay) ? dice(10) : 0, move);
    };
    const deliver = (message: Buffer) => {
      const other = events[1 - own];
      if (happens(faults.corrupt)) message[dice(message.length)]! ^= 1 << dice(8);
      if (happens(faults.truncate)) return other?.onMessage(message.subarray(0, dice(message.length)));
      other?.onMessage(message);
      if (happens(faults.duplicate)) other?.onMessage(message);
      if (happens(faults.cut)) cut();
      if (happens(faults.blackHole)) {
        isBlackHole = true;
        later(30, cut);
      }
    };
    return {
      start: (given) => {
        events[own] = given;
      },
      send(message) {
        queue.push(Buffer.from(message));
        schedule();
      },
      respondsWithin: async () => true,
      buffered: () => queue.reduce((sum, message) => sum + message.length, 0),
      end: cut,
      drop: cut,
    };
  };
  return [createEnd(0), createEnd(1)];
}

/** Reconnects whenever the runner has noticed a break, even while the server still believes in the old connection. */
export function keepConnected(server: Link, runner: Link, dice: Dice, faults: Faults) {
  let connections = 0;
  let isOver = false;
  const mend = () => {
    if (isOver) return;
    if (runner.state === 'reconnecting') {
      const [a, b] = createHostileCable(dice, faults);
      connections += 1;
      const { received } = runner;
      server.attach(a, received);
      runner.attach(b, server.received);
    }
    setImmediate(mend);
  };
  mend();
  return {
    connections: () => connections,
    stop: () => {
      isOver = true;
    },
  };
}
