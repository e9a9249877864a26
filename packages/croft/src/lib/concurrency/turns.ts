/** The longest time that long work runs before other work has its turn. */
const turnMs = 1;
/** Pause between two turns while a recently started call would otherwise wait for each turn. */
const pauseMs = 2;
const youngCallMs = 100;

interface Waiting {
  /** When the waiting work began. */
  readonly since: number;
  go(): void;
}

const waiting: Waiting[] = [];
const calls = new Set<{ readonly since: number }>();

/**
 * Registers a call until the answer is disposed of. During the first 100 ms of the call, work that began earlier pauses
 * between its turns.
 */
export function noteCallStarted(): Disposable {
  const call = { since: performance.now() };
  calls.add(call);
  return { [Symbol.dispose]: () => void calls.delete(call) };
}

/**
 * Splits long work on the main thread into turns. Call the returned function often: most of the time it returns at
 * once, and when the turn is over it waits for the next. All such work of the program waits in one queue, and the event
 * loop runs between two turns. However much such work runs at once, other callers wait for one turn at most.
 */
export function createTurns(signal?: AbortSignal): () => Promise<void> | undefined {
  const since = performance.now();
  let began = since;
  async function wait(): Promise<void> {
    await nextTurn(since);
    signal?.throwIfAborted();
    began = performance.now();
  }
  return () => (performance.now() - began < turnMs ? undefined : wait());
}

function nextTurn(since: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push({ since, go: resolve }) === 1) scheduleTurn();
  return promise;
}

function takeTurn(): void {
  waiting.shift()?.go();
  if (waiting.length > 0) scheduleTurn();
}

function scheduleTurn(): void {
  if (mustPause(waiting[0]?.since ?? 0)) setTimeout(takeTurn, pauseMs);
  else setImmediate(takeTurn);
}

/** Tells whether a call that began after this work is still young. */
function mustPause(since: number): boolean {
  const bound = Math.max(since, performance.now() - youngCallMs);
  for (const call of calls) if (call.since > bound) return true;
  return false;
}

/** Filters in turns: for many items or a slow test. */
export async function filterInTurns<Item>(items: readonly Item[], test: (item: Item) => boolean): Promise<Item[]> {
  const turn = createTurns();
  const found: Item[] = [];
  for (const item of items) {
    const wait = turn();
    if (wait) await wait;
    if (test(item)) found.push(item);
  }
  return found;
}
