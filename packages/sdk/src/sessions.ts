import { SessionAnswer, SignInLink } from '@croft/protocol';
import type { Request } from './request.ts';

/** Who the caller is, and links that open the page signed in. */
export function createSession(request: Request) {
  return {
    show: async () => (await request('GET', '/v1/session', { answer: SessionAnswer })).session,
    /** Good once, for a minute. Its path belongs behind the address of the page. */
    link: () => request('POST', '/v1/session/links', { answer: SignInLink }),
  };
}
