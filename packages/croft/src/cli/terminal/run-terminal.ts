import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '@croft/protocol';
import type { Client } from '@croft/sdk';
import type { Terminal } from '../command.ts';
import { connectTerminal, type Ending } from './connect.ts';
import type { Place } from './find-place.ts';
import { openScreen } from './screen.ts';

export interface RunTerminalOptions extends Place {
  readonly client: Client;
  readonly baseUrl: string;
  readonly terminal: Terminal;
}

const retryMs = 1000;
/** As long as the server keeps a terminal that nobody looks at. */
const giveUpMs = 5 * 60_000;

/** Until the shell there ends. A connection that is cut is made again, and nothing of what was printed is missing. */
export async function runTerminal({ client, baseUrl, terminal, ...place }: RunTerminalOptions): Promise<number> {
  using screen = openScreen(terminal);
  const seen: { terminal?: string; from: number } = { from: 0 };
  for (let lastSeen = Date.now(); Date.now() - lastSeen < giveUpMs; ) {
    const ending = await once();
    if (ending.kind === 'exit') return ending.code;
    if (ending.kind === 'refused') throw new AppError(ending.code, ending.message);
    if (ending.wasAttached) lastSeen = Date.now();
    if (terminal.stop.aborted) return 1;
    await pause(retryMs, undefined, { signal: terminal.stop }).catch(() => {});
  }
  throw new AppError('E_RUNNER_LOST', 'the terminal could not be reached any more');

  async function once(): Promise<Ending> {
    const { workspaceId, sandboxId } = place;
    const wish = { workspaceId, ...screen.size(), ...(seen.terminal !== undefined && seen) };
    try {
      const { path } = await client.terminals.ticket(sandboxId, wish);
      return await connectTerminal(new URL(path, baseUrl), screen, seen, terminal.stop);
    } catch (thrown) {
      const error = AppError.from(thrown);
      // A server that does not answer may do so soon; one that says no means it.
      if (error.code === 'E_INTERNAL' || error.code === 'E_STOPPING') return { kind: 'cut', wasAttached: false };
      throw thrown;
    }
  }
}
