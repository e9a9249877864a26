import { openSigned, signText } from '../../lib/crypto/signed-text.ts';
import type { TerminalOwner, TerminalWish } from './terminals.ts';

/** What a ticket lets in: one person, to one terminal, once. */
export interface TicketClaims extends TerminalOwner, TerminalWish {
  readonly nonce: string;
  /** In milliseconds since 1970. */
  readonly expires: number;
}

const about = 'croft terminal 1\0';
/** From the answer to the connection that is made with it. */
const ticketMs = 30_000;

export type Tickets = ReturnType<typeof createTickets>;

/** Browsers cannot send a key with a WebSocket, and an address is logged: what is in it is worth nothing soon. */
export function createTickets(key: Buffer, now: () => number) {
  const used = new Map<string, number>();

  return {
    issue(owner: TerminalOwner, wish: TerminalWish): { ticket: string; expiresAt: string } {
      const expires = now() + ticketMs;
      const ticket = signText(key, about, { ...owner, ...wish, nonce: crypto.randomUUID(), expires });
      return { ticket, expiresAt: new Date(expires).toISOString() };
    },
    /** Once. Nothing for one that is over, was used or is not ours. */
    take(ticket: string): TicketClaims | undefined {
      // Nobody but us can have written it.
      const claims = openSigned(key, about, ticket) as TicketClaims | undefined;
      if (!claims || now() >= claims.expires || used.has(claims.nonce)) return undefined;
      for (const [nonce, expires] of used) if (now() >= expires) used.delete(nonce);
      used.set(claims.nonce, claims.expires);
      return claims;
    },
  };
}
