/**
 * Node closes a connection that is not to be kept as soon as the answer is out. To a client that is still sending, that
 * is a reset: its next write fails, and the answer may never be read. One whose body nobody wanted is therefore treated
 * like one that stays: the server takes the rest off the connection for a moment, and closes it then.
 */
export function lingerIfSending(env: unknown): void {
  const { incoming, outgoing } = (env ?? {}) as NodeBindings;
  if (incoming && outgoing && !incoming.complete) outgoing.shouldKeepAlive = true;
}

/** What the server of Node passes on with each request. */
interface NodeBindings {
  readonly incoming?: { readonly complete: boolean };
  readonly outgoing?: { shouldKeepAlive: boolean };
}
