/** One connection, which may break at any moment. It carries whole messages. */
export interface LinkWire {
  /** Called once, when the owner is ready to receive. */
  start(events: LinkWireEvents): void;
  send(message: Buffer): void;
  /** Bytes that were passed to `send` and not written yet. */
  buffered(): number;
  /** Closes the connection after writing what was sent, if possible. */
  end(): void;
  /** Asks now whether the other side responds within that time. */
  respondsWithin(withinMs: number): Promise<boolean>;
  /** Closes the connection at once. `reason` is for the operator. */
  drop(reason: string): void;
}

export interface LinkWireEvents {
  onMessage(message: Buffer): void;
  /** Called when the send buffer has space again. */
  onDrain(): void;
  /** Called once, whichever side ended the connection. */
  onClose(reason: string): void;
}
