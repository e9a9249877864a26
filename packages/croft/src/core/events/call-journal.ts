/**
 * Port to the audit trail of calls. `call` is the id of the call (`ActiveCall.id`), the same for its beginning and its
 * end.
 */
export interface CallJournal {
  /** Called when a call has come in, also one that only reads. Nothing is stored. */
  started?(session: string, fields: Readonly<Record<string, unknown>>, call: string): void;
  /** Called before a call that may change something runs. If this throws, the call does not run. */
  began(session: string, fields: Readonly<Record<string, unknown>>, call: string): Promise<void>;
  /**
   * Called after the call, also when it failed. `violations` are its refused attempts. Throws an error whose message
   * says what was not recorded: the call is answered all the same, and the answer includes that message.
   */
  ended(
    session: string,
    fields: Readonly<Record<string, unknown>>,
    violations: readonly Readonly<Record<string, unknown>>[],
    call: string,
  ): Promise<void>;
}
