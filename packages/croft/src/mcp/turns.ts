/** Few enough for their answers to leave in one write, enough for a turn to cost next to nothing. */
const itemsPerTurn = 16;

export interface TurnsOptions<Item> {
  take(item: Item): void;
  /** There is room for more, after there was none. */
  onEmpty(): void;
}

/**
 * Hands on what comes at once a few at a time: the answers to the first are with their reader while the next are worked
 * on, and nothing is held for hundreds of calls together.
 */
export function createTurns<Item>({ take, onEmpty }: TurnsOptions<Item>) {
  let waiting: Item[] = [];
  let [taken, isHeld, isScheduled] = [0, false, false];

  return {
    /** What is added from now on belongs to another turn than what was added before. */
    begin(): void {
      taken = 0;
    },
    add(item: Item): void {
      if (waiting.length > 0 || taken >= itemsPerTurn || isHeld) {
        waiting.push(item);
        schedule();
        return;
      }
      taken += 1;
      take(item);
    },
    /** Whether what is there has to be taken before there should be more. */
    areBehind: () => isHeld || waiting.length > 0,
    /** Takes nothing until `release`. */
    hold(): void {
      isHeld = true;
    },
    release(): void {
      isHeld = false;
      if (waiting.length === 0) onEmpty();
      else schedule();
    },
    /** Takes all that waits, now. */
    finish(): void {
      const rest = waiting;
      waiting = [];
      rest.forEach(take);
    },
  };

  function schedule(): void {
    if (isScheduled || isHeld) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isScheduled = false;
    if (isHeld || waiting.length === 0) return;
    waiting.splice(0, itemsPerTurn).forEach(take);
    if (waiting.length > 0) schedule();
    else onEmpty();
  }
}
