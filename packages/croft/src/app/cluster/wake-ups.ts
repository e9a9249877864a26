import type { Records } from '../../core/accounts/ports/records.ts';

/** Reacts to what other servers have stored. Every poll that existed before goes on: a wake-up may be lost. */
interface WakeUpHandlers {
  /** Rows of the audit trail. */
  onEvents(): void;
  /** An approval was decided. */
  onApproval(approvalId: string): void;
  /** Something of an account was changed that may take rights away. */
  onAccount(accountId: string): void;
  /** A runner of an account has connected somewhere. */
  onRunner(accountId: string): void;
  /** A server has started. */
  onServer(): void;
}

interface WakeUpsOptions {
  /** Whether there is no other server to notify. */
  isAlone(): boolean;
  onWarning(message: string): void;
}

const gatherMs = 50;

/** Sends what this server has stored to the others, by notices of the database. */
export function createWakeUps({ notices }: Pick<Records, 'notices'>, { isAlone, onWarning }: WakeUpsOptions) {
  let timer: NodeJS.Timeout | undefined;
  return {
    /** Rows of the next moment are told together. */
    events(): void {
      if (timer || isAlone()) return;
      timer = setTimeout(() => {
        timer = undefined;
        notices?.send('events');
      }, gatherMs).unref();
    },
    approval: (id: string) => notices?.send(`approval ${id}`),
    account: (id: string) => notices?.send(`account ${id}`),
    server: () => notices?.send('server'),

    /** Never throws: without notices, the polls find everything later. */
    async listen({ onEvents, onApproval, onAccount, onRunner, onServer }: WakeUpHandlers): Promise<void> {
      const handlers: Readonly<Record<string, (id: string) => void>> = {
        events: onEvents,
        approval: onApproval,
        account: onAccount,
        runner: onRunner,
        server: onServer,
      };
      const onMessage = (text: string) => {
        const [topic = '', id = ''] = text.split(' ');
        if (Object.hasOwn(handlers, topic)) handlers[topic]?.(id);
      };
      await notices
        ?.listen(onMessage)
        .catch((thrown) => onWarning(`wake-ups of other servers are not heard, and come later: ${thrown}`));
    },
  };
}

export type WakeUps = ReturnType<typeof createWakeUps>;
