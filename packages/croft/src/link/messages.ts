import { AppError } from '@croft/protocol';
import { decodeJson } from './json.ts';
import { maxUnreadMessageBytes, maxUnreadMessages } from './limits.ts';

/** Messages of a call wait for their listener, but not without end. */
export function createMessages(onBroken: (error: AppError) => void) {
  let unread: unknown[] = [];
  let unreadBytes = 0;
  let listener: ((message: unknown) => void) | undefined;

  return {
    receive(payload: Buffer): void {
      const message = decodeJson(payload);
      if (listener) hand(message);
      else keep(message, payload.length);
    },
    listen(added: (message: unknown) => void): void {
      if (listener) throw new Error('a call has one listener for its messages');
      listener = added;
      const waiting = unread;
      unread = [];
      for (const message of waiting) hand(message);
    },
  };

  function keep(message: unknown, bytes: number): void {
    unreadBytes += bytes;
    unread.push(message);
    if (unread.length <= maxUnreadMessages && unreadBytes <= maxUnreadMessageBytes) return;
    onBroken(new AppError('E_TOO_MANY', `more than ${maxUnreadMessages} messages of a call were not read`));
  }

  function hand(message: unknown): void {
    try {
      listener?.(message);
    } catch (thrown) {
      onBroken(AppError.from(thrown));
    }
  }
}
