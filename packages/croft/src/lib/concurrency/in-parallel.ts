/**
 * Runs `work` on each item, at most `limit` at a time, in no fixed order. After the first failure no further item is
 * started; running work is awaited, and then that failure is thrown.
 */
export async function inParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  let underWay = 0;
  let goOn = () => {};
  const untilOneEnds = () =>
    new Promise<void>((resolve) => {
      goOn = resolve;
    });
  const begin = async (item: Item): Promise<void> => {
    underWay += 1;
    try {
      await work(item);
    } catch (thrown) {
      failures.push(thrown);
    }
    underWay -= 1;
    goOn();
  };
  try {
    for await (const item of items) {
      if (failures.length > 0) break;
      void begin(item);
      if (underWay >= limit) await untilOneEnds();
    }
  } finally {
    while (underWay > 0) await untilOneEnds();
  }
  if (failures.length > 0) throw failures[0];
}
