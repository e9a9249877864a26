import { AppError } from '@croft/protocol';
import { maxUnreadMessageBytes, maxUnreadMessages } from '../transport/link-limits.ts';
import { decodeJson } from './json-codec.ts';

/** Queues the messages of a call until there is a listener. Too many unread messages break the call. */
export function createMessageQueue(onBroken: (error: AppError) => void) {
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
    onBroken(fellBehind());
  }

  function hand(message: unknown): void {
    try {
      listener?.(message);
    } catch (thrown) {
      onBroken(AppError.from(thrown));
    }
  }
}

function fellBehind(): AppError {
  const limits = `${maxUnreadMessages} messages or ${maxUnreadMessageBytes} bytes`;
  return new AppError('E_TOO_MANY', `the call was ended: its reader fell behind by more than ${limits}`, {
    hint: 'The call may have run. Check what it did before you repeat it.',
  });
}
