/** One connection, which may break at any moment. Carries whole messages. */
export interface Wire {
  /** Once, when whoever it is given to is ready for what comes. */
  start(events: WireEvents): void;
  send(message: Buffer): void;
  /** Bytes that were handed over and are not written yet. */
  buffered(): number;
  /** What was sent is still written, if it can be. */
  end(): void;
  /** At once. `reason` is for whoever looks at it from outside. */
  drop(reason: string): void;
}

export interface WireEvents {
  onMessage(message: Buffer): void;
  /** Less is buffered than before. */
  onDrain(): void;
  /** Once, whoever ended it. */
  onClose(reason: string): void;
}
