import { z } from 'zod';
import { exactly, must, NonEmpty } from './field-schemas.ts';

export const terminalSubprotocol = 'croft.terminal.1';

const cells = 'be a number of cells from 1 to 1000';
const Cells = z.int(must(cells)).min(1, must(cells)).max(1000, must(cells));

export const OpenTerminal = exactly({
  workspaceId: NonEmpty,
  rows: Cells.prefault(24),
  columns: Cells.prefault(80),
  /** The terminal to resume, and the number of its bytes that arrived. */
  terminal: NonEmpty.optional(),
  from: z.int(must('be a number of bytes')).min(0, must('be a number of bytes')).optional(),
});

/** A ticket: valid once, for a short time, for the caller that requested it. */
export const TerminalTicket = z.object({
  ticket: z.string(),
  /** Path of the WebSocket, with the ticket. */
  path: z.string(),
  expiresAt: z.iso.datetime(),
});

/** Text messages of a client. Binary messages are typed input. */
export const TerminalClientMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('resize'), rows: Cells, columns: Cells }),
  /** Number of bytes received since the start of the terminal. Without acknowledgements the terminal pauses. */
  z.strictObject({ type: z.literal('ack'), offset: z.int().min(0) }),
  z.strictObject({ type: z.literal('close') }),
]);

/** Text messages for a client. Binary messages are printed output. */
export const TerminalServerMessage = z.discriminatedUnion('type', [
  /**
   * Output follows from `offset` on. What is before `answered` was shown before: a client does not answer again what
   * programs asked there, because the answer would be typed. Servers of older releases leave it out.
   */
  z.object({ type: z.literal('attached'), terminal: z.string(), offset: z.int(), answered: z.int().optional() }),
  z.object({ type: z.literal('exit'), code: z.int().nullable(), signal: z.string().nullable() }),
  z.object({ type: z.literal('error'), code: z.string(), message: z.string() }),
]);
export type TerminalServerMessage = z.output<typeof TerminalServerMessage>;
