import { type OpenTerminal, TerminalTicket } from '@croft/protocol';
import type { z } from 'zod';
import { path, type Request } from './request.ts';

/** Tickets for terminals: each is for one WebSocket connection within half a minute. */
export function createTerminals(request: Request) {
  return {
    ticket: (sandboxId: string, body: z.input<typeof OpenTerminal>) =>
      request('POST', path`/v1/sandboxes/${sandboxId}/terminals`, { answer: TerminalTicket, body }),
  };
}
