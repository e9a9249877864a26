import { Deleted, SessionAnswer, SignInLink } from '@croft/protocol';
import type { Request } from './request.ts';

/** Client for the caller's own session: its rights, and sign-in at the page. */
export function createSession(request: Request) {
  return {
    /** Returns the rights of the key. */
    get: async () => (await request('GET', '/v1/session', { answer: SessionAnswer })).session,
    /** A link that opens the page signed in, once, within a minute. */
    link: () => request('POST', '/v1/session/links', { answer: SignInLink }),
    end: async (): Promise<void> => {
      await request('DELETE', '/v1/session', { answer: Deleted });
    },
  };
}
