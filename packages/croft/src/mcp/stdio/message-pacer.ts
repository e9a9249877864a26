/** Few enough that their answers leave in one write, and enough that the cost of a turn does not matter. */
const itemsPerTurn = 16;

interface TurnsOptions<Item> {
  take(item: Item): void;
  /** The queue is empty again, so that more may be added. */
  onEmpty(): void;
}

/**
 * Passes on items that arrive together a few at a time, so that the first answers are read while the next items are
 * handled, and hundreds of calls do not pile up their answers.
 */
export function createMessagePacer<Item>({ take, onEmpty }: TurnsOptions<Item>) {
  let waiting: Item[] = [];
  let [taken, isPaused, isScheduled] = [0, false, false];

  return {
    /** Starts a new turn for the items that are added from now on. */
    begin(): void {
      taken = 0;
    },
    add(item: Item): void {
      if (waiting.length > 0 || taken >= itemsPerTurn || isPaused) {
        waiting.push(item);
        schedule();
        return;
      }
      taken += 1;
      take(item);
    },
    /** Whether items wait, so that nothing more should be read. */
    areBehind: () => isPaused || waiting.length > 0,
    /** Passes on nothing until `release`. */
    hold(): void {
      isPaused = true;
    },
    release(): void {
      isPaused = false;
      if (waiting.length === 0) onEmpty();
      else schedule();
    },
    /** Passes on all waiting items now. */
    finish(): void {
      const rest = waiting;
      waiting = [];
      rest.forEach(take);
    },
  };

  function schedule(): void {
    if (isScheduled || isPaused) return;
    isScheduled = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    isScheduled = false;
    if (isPaused || waiting.length === 0) return;
    waiting.splice(0, itemsPerTurn).forEach(take);
    if (waiting.length > 0) schedule();
    else onEmpty();
  }
}
