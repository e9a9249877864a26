/** A caller that waits for a capture of the workspace. */
interface CaptureRequest<Owner> {
  /** False: the caller needs no capture, only its position in the queue. */
  needsCapture(): boolean;
  /** The call that owns the changes since the last capture. */
  owner(): Owner;
  /** Continues the caller synchronously. `isSeen`: the workspace was captured. */
  proceed(isSeen: boolean): void;
}

interface SharedCaptureOptions<Owner> {
  exclusively(work: () => Promise<void>): Promise<void>;
  /** Returns `undefined` if the capture failed. */
  capture(owner: Owner): Promise<true | undefined>;
}

/**
 * Captures once for all callers that wait: captures in direct succession would find nothing new. A caller that arrives
 * during a capture waits for the next one.
 */
export function createSharedCapture<Owner>({ exclusively, capture }: SharedCaptureOptions<Owner>) {
  let waiting: CaptureRequest<Owner>[] = [];
  let coming: Promise<void> | undefined;

  async function captureForAll(): Promise<void> {
    const turns = waiting;
    [waiting, coming] = [[], undefined];
    const first = turns.find((turn) => turn.needsCapture());
    const isSeen = first !== undefined && (await capture(first.owner())) === true;
    for (const turn of turns) turn.proceed(isSeen);
  }

  return (turn: CaptureRequest<Owner>): Promise<void> => {
    waiting.push(turn);
    coming ??= exclusively(captureForAll);
    return coming;
  };
}
