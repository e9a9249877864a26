/**
 * Runs `save` once at a time. Calls during a save share the save that follows it: that one stores what all of them
 * changed.
 */
export function createSerialSave<T>(save: (latest: T) => Promise<void>) {
  let running: Promise<void> | undefined;
  let following: { latest: T; readonly saved: Promise<void> } | undefined;

  function start(latest: T): Promise<void> {
    running = save(latest).finally(() => {
      running = undefined;
    });
    return running;
  }

  async function startAfter(earlier: Promise<void>): Promise<void> {
    await earlier.catch(() => {});
    const next = following;
    following = undefined;
    if (next) await start(next.latest);
  }

  const isIdle = () => !running && !following;

  return {
    isIdle,
    save(latest: T): Promise<void> {
      if (isIdle()) return start(latest);
      following ??= { latest, saved: startAfter(running ?? Promise.resolve()) };
      following.latest = latest;
      return following.saved;
    },
  };
}
