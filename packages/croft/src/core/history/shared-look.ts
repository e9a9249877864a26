/** Someone who waits for the workspace to be looked at. */
interface Turn<Owner> {
  /** False: what follows needs no look, only its place in line. */
  needsLook(): boolean;
  /** Whose it is what changed since the last look. */
  owner(): Owner;
  /** What follows, at once. */
  pass(): void;
}

export interface SharedLookOptions<Owner> {
  exclusively(work: () => Promise<void>): Promise<void>;
  look(owner: Owner): Promise<void>;
}

/**
 * Looks once for all who wait for it. One look after the other finds nothing that the first did not find, and whoever
 * comes while one is under way waits for the next.
 */
export function createSharedLook<Owner>({ exclusively, look }: SharedLookOptions<Owner>) {
  let waiting: Turn<Owner>[] = [];
  let coming: Promise<void> | undefined;

  async function lookForAll(): Promise<void> {
    const turns = waiting;
    [waiting, coming] = [[], undefined];
    const first = turns.find((turn) => turn.needsLook());
    if (first) await look(first.owner());
    for (const turn of turns) turn.pass();
  }

  return (turn: Turn<Owner>): Promise<void> => {
    waiting.push(turn);
    coming ??= exclusively(lookForAll);
    return coming;
  };
}
