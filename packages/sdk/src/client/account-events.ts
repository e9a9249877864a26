import { AccountEvent } from '@croft/protocol';
import { readEvents } from './file-events.ts';
import type { Send } from './request.ts';

export interface AccountEventOptions {
  readonly signal?: AbortSignal;
  /** The `id` of the event that was seen last, or `position` of a list of the audit trail. Left out: from now on. */
  readonly after?: string | undefined;
}

/** Yields the events of the account until the signal aborts. Connects again after a connection is lost. */
export function createEvents(send: Send) {
  return ({ signal, after }: AccountEventOptions = {}): AsyncGenerator<AccountEvent & { id?: string }> =>
    readEvents(send, '/v1/events', AccountEvent, {
      ...(signal && { signal }),
      ...(after !== undefined && { lastId: after }),
    });
}
