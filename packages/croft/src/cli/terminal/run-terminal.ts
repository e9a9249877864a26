import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import type { CommandContext } from '../command.ts';
import { toSignalCode } from '../output/exit-codes.ts';
import { connectTerminal, type TerminalEnding } from './connect-terminal.ts';
import type { TerminalTarget } from './find-terminal-target.ts';
import { openRawTerminal } from './raw-terminal.ts';

interface RunTerminalOptions extends TerminalTarget {
  readonly client: Client;
  readonly baseUrl: string;
  readonly terminal: CommandContext;
}

const retryMs = 1000;
/** How long to try to connect again: the server keeps a terminal without a connection for as long. */
const giveUpMs = 5 * 60_000;

/** Runs a terminal until its shell ends. A cut connection is made again, and no output is lost. */
export async function runTerminal({ client, baseUrl, terminal, ...place }: RunTerminalOptions): Promise<number> {
  using screen = openRawTerminal(terminal);
  const seen: { terminal?: string; from: number } = { from: 0 };
  for (let lastSeen = Date.now(); Date.now() - lastSeen < giveUpMs; ) {
    const ending = await once();
    if (ending.kind === 'exit') return ending.code;
    if (ending.kind === 'refused') throw new AppError(ending.code, ending.message);
    if (ending.wasAttached) lastSeen = Date.now();
    if (terminal.stop.aborted) return toSignalCode(terminal.stop);
    await pause(retryMs, undefined, { signal: terminal.stop }).catch(() => {});
  }
  throw new AppError('E_RUNNER_LOST', 'the terminal could not be reached any more');

  async function once(): Promise<TerminalEnding> {
    const { workspaceId, sandboxId } = place;
    const ticketRequest = { workspaceId, ...screen.size(), ...(seen.terminal !== undefined && seen) };
    try {
      const { path } = await client.terminals.ticket(sandboxId, ticketRequest);
      return await connectTerminal(new URL(path, baseUrl), screen, seen, terminal.stop);
    } catch (thrown) {
      const error = AppError.from(thrown);
      // A server that does not answer may answer soon; a refusal is final.
      if (error.code === 'E_INTERNAL' || error.code === 'E_STOPPING') return { kind: 'cut', wasAttached: false };
      throw thrown;
    }
  }
}
