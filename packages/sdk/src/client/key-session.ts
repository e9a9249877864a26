import { Deleted, SessionAnswer, SignInLink } from '@croft/protocol';
import type { Request } from './request.ts';

/**
 * What the key of this client may do, and links that open the page signed in with it. This is not a session of an agent.
 */
export function createKeySession(request: Request) {
  return {
    /** Returns the rights of the key. */
    get: async () => (await request('GET', '/v1/session', { answer: SessionAnswer })).session,
    /** A link that opens the page signed in, once, within a minute. */
    link: () => request('POST', '/v1/session/links', { answer: SignInLink }),
    /** Ends the browser session with which the request is made. */
    end: async (): Promise<void> => {
      await request('DELETE', '/v1/session', { answer: Deleted });
    },
  };
}
