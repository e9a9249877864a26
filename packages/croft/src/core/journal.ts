/** The audit trail of calls. What it has taken is kept: a call is answered only after that. */
export interface Journal {
  /** Before a call that may change something runs. */
  began(session: string, call: Readonly<Record<string, unknown>>): Promise<void>;
  /** `violations` are what it tried and was refused. */
  ended(
    session: string,
    call: Readonly<Record<string, unknown>>,
    violations: readonly Readonly<Record<string, unknown>>[],
  ): Promise<void>;
}
