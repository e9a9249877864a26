import { openSignedToken, signToken } from '../../lib/crypto/signed-token.ts';
import type { TerminalOwner, TerminalRequest } from './terminals.ts';

/** A ticket admits one person to one terminal, once. */
export interface TicketClaims extends TerminalOwner, TerminalRequest {
  readonly nonce: string;
  /** In milliseconds since 1970. */
  readonly expires: number;
}

const about = 'croft terminal 1\0';
/** How long a ticket is valid. */
const ticketMs = 30_000;

export type Tickets = ReturnType<typeof createTickets>;

/**
 * Issues short-lived tickets for the terminal WebSocket. Browsers cannot send a key with a WebSocket, and addresses are
 * logged, so a ticket in an address must soon be worthless.
 */
export function createTickets(key: Buffer, now: () => number) {
  const used = new Map<string, number>();

  return {
    issue(owner: TerminalOwner, request: TerminalRequest): { ticket: string; expiresAt: string } {
      const expires = now() + ticketMs;
      const ticket = signToken(key, about, { ...owner, ...request, nonce: crypto.randomUUID(), expires });
      return { ticket, expiresAt: new Date(expires).toISOString() };
    },
    /** The claims of a ticket of this installation, which is not used up. */
    read: (ticket: string) => openSignedToken(key, about, ticket) as TicketClaims | undefined,
    /** Redeems a ticket once. Returns `undefined` for a ticket that is expired, used or not ours. */
    take(ticket: string): TicketClaims | undefined {
      // The signature proves that this server wrote it.
      const claims = openSignedToken(key, about, ticket) as TicketClaims | undefined;
      if (!claims || now() >= claims.expires || used.has(claims.nonce)) return undefined;
      for (const [nonce, expires] of used) if (now() >= expires) used.delete(nonce);
      used.set(claims.nonce, claims.expires);
      return claims;
    },
  };
}
