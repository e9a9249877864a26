import type { AccountEvent } from '@croft/protocol';
import { findAccess } from '#settings';
import type { Box } from './box/box.ts';
import { type OpenOptions, openBox } from './box/open-box.ts';
import type { AccountEventOptions } from './client/account-events.ts';
import { type Client, createClientOn } from './client/create-client.ts';
import type { ServerAccess } from './client/request.ts';
import { createResilientFetch, type RetryOptions } from './connection/resilient-fetch.ts';
import type { AccessOptions } from './settings/choose-access.ts';
import { type ApprovalEvent, type WatchOptions, watchApprovals } from './watch/watch-approvals.ts';

export interface CroftOptions extends AccessOptions, RetryOptions {
  readonly fetch?: typeof globalThis.fetch;
  /** Called when this is disposed of. */
  readonly onClose?: (() => Promise<void>) | undefined;
}

type Approvals = Client['approvals'] & {
  watch(options?: WatchOptions): AsyncGenerator<ApprovalEvent>;
};

/**
 * An account of a Croft server. Which server, and who asks, comes from the options, `CROFT_*`, or the context of
 * `croft login`, and is looked up with the first request.
 */
export class Croft implements AsyncDisposable {
  /** One method for each route of the server. */
  readonly client: Client;
  /** Calls that wait for a person. */
  readonly approvals: Approvals;
  readonly #access: () => Promise<ServerAccess>;
  readonly #onClose: (() => Promise<void>) | undefined;

  constructor({ fetch = globalThis.fetch, retries, onClose, ...options }: CroftOptions = {}) {
    let found: Promise<ServerAccess> | undefined;
    this.#access = () => {
      found ??= findAccess(options);
      return found;
    };
    this.#onClose = onClose;
    const client = createClientOn({ access: this.#access, fetch: createResilientFetch(fetch, { retries }) });
    this.client = client;
    this.approvals = { ...client.approvals, watch: (watching) => watchApprovals(client, watching) };
  }

  /** A workspace by name or id, with a sandbox and a session of its own. Makes what is missing. */
  open(workspace: string, options?: OpenOptions): Promise<Box> {
    const baseUrl = async () => (await this.#access()).baseUrl;
    return openBox({ client: this.client, baseUrl }, workspace, options);
  }

  /**
   * Yields the events of the account until the signal aborts. Connects again without a gap after a connection is lost.
   */
  events(options?: AccountEventOptions): AsyncGenerator<AccountEvent & { id?: string }> {
    return this.client.events(options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#onClose?.();
  }
}
