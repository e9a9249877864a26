import { StringDecoder } from 'node:string_decoder';
import { TerminalServerMessage } from '@croft/protocol';
import { vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Account, mustBe } from '../support/servers/platform.ts';

export interface TerminalTarget {
  readonly sandboxId: string;
  readonly workspaceId: string;
}

export async function newTicket(account: Account, { sandboxId, workspaceId }: TerminalTarget, more: object = {}) {
  return mustBe(201, await account.send('POST', `/v1/sandboxes/${sandboxId}/terminals`, { workspaceId, ...more }));
}

export type Screen = ReturnType<typeof connectTerminal>;

/** Connects a terminal client, like a page in a browser. */
export function connectTerminal(url: string, path: string) {
  const socket = new WebSocket(new URL(path, url.replace(/^http/, 'ws')), 'croft.terminal.1');
  const [reported, pieces]: [TerminalServerMessage[], Buffer[]] = [[], []];
  const decoder = new StringDecoder();
  let [text, length] = ['', 0];
  let status: number | undefined;
  socket.on('error', () => {});
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode;
    socket.terminate();
  });
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary) return void reported.push(TerminalServerMessage.parse(JSON.parse(data.toString())));
    pieces.push(data);
    length += data.length;
    text += decoder.write(data);
  });
  return {
    socket,
    told: reported,
    text: () => text,
    /** The number of bytes, which costs nothing to ask. */
    length: () => length,
    status: () => status,
    bytes: () => Buffer.concat(pieces),
    type: (keys: string) => socket.send(Buffer.from(keys)),
    say: (message: object) => socket.send(JSON.stringify(message)),
    untilText: (pattern: RegExp) =>
      vi.waitFor(() => {
        if (!pattern.test(text)) throw new Error(`not yet ${pattern}: ${text.slice(-300)}`);
      }),
    untilMessage: (type: TerminalServerMessage['type']) =>
      vi.waitFor(() => {
        const found = reported.find((message) => message.type === type);
        if (!found) throw new Error(`not told ${type}, but ${JSON.stringify(reported)}`);
        return found;
      }),
    untilClosed: () =>
      vi.waitFor(() => {
        if (socket.readyState !== socket.CLOSED) throw new Error('still open');
      }),
    [Symbol.dispose]: () => socket.terminate(),
  };
}
