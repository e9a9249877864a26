import { z } from 'zod';
import { exactly, must, NonEmpty } from './fields.ts';

export const terminalSubprotocol = 'croft.terminal.1';

const cells = 'be a number of cells from 1 to 1000';
const Cells = z.int(must(cells)).min(1, must(cells)).max(1000, must(cells));

export const OpenTerminal = exactly({
  workspaceId: NonEmpty,
  rows: Cells.prefault(24),
  columns: Cells.prefault(80),
  /** The terminal to go on with, and how many of its bytes have come. */
  terminal: NonEmpty.optional(),
  from: z.int(must('be a number of bytes')).min(0, must('be a number of bytes')).optional(),
});

/** Good once, for a short while, for whoever asked for it. */
export const TerminalTicket = z.object({
  ticket: z.string(),
  /** Where the WebSocket is, with the ticket in it. */
  path: z.string(),
  expiresAt: z.iso.datetime(),
});

/** What a client says as text. What it sends as bytes is typed. */
export const TerminalAsked = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('resize'), rows: Cells, columns: Cells }),
  /** Bytes that have come, from the first of the terminal on. Without it the terminal waits. */
  z.strictObject({ type: z.literal('ack'), offset: z.int().min(0) }),
  z.strictObject({ type: z.literal('close') }),
]);

/** What a client is told as text. What comes as bytes was printed. */
export const TerminalTold = z.discriminatedUnion('type', [
  z.object({ type: z.literal('attached'), terminal: z.string(), offset: z.int() }),
  z.object({ type: z.literal('exit'), code: z.int().nullable(), signal: z.string().nullable() }),
  z.object({ type: z.literal('error'), code: z.string(), message: z.string() }),
]);
export type TerminalTold = z.output<typeof TerminalTold>;
