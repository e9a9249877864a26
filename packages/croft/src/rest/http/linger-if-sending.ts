/**
 * Node closes a connection that is not kept alive as soon as the answer is sent. A client that is still sending then
 * gets a reset, and may never read the answer. So a connection with an unread body is treated as if it were kept alive:
 * the server drains the rest for a moment, and then closes it.
 */
export function lingerIfSending(env: unknown): void {
  const { incoming, outgoing } = (env ?? {}) as NodeBindings;
  if (incoming && outgoing && !incoming.complete) outgoing.shouldKeepAlive = true;
}

/** The bindings that the Node adapter passes on with each request. */
interface NodeBindings {
  readonly incoming?: { readonly complete: boolean };
  readonly outgoing?: { shouldKeepAlive: boolean };
}
