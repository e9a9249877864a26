import { TerminalServerMessage, terminalSubprotocol } from '@croft/protocol';
import type { Client } from '../client/create-client.ts';
import { CroftError } from '../errors/croft-error.ts';

export interface TerminalOptions {
  readonly rows?: number | undefined;
  readonly columns?: number | undefined;
}

export interface TerminalExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A shell in the sandbox. A loop gives its output. Typed commands need no approval. */
export interface Terminal extends AsyncIterable<Uint8Array<ArrayBuffer>>, AsyncDisposable {
  /** The end of the shell. */
  readonly exit: Promise<TerminalExit>;
  write(typed: string | Uint8Array<ArrayBuffer>): void;
  resize(rows: number, columns: number): void;
  /** Ends the shell. */
  close(): Promise<void>;
}

interface TerminalPlace {
  readonly client: Client;
  readonly baseUrl: string;
  readonly sandboxId: string;
  readonly workspaceId: string;
}

/** Opens a terminal over a WebSocket. The key needs the scope `terminal`. */
export async function openTerminal(place: TerminalPlace, { rows = 24, columns = 80 }: TerminalOptions = {}) {
  const { client, baseUrl, sandboxId, workspaceId } = place;
  const { path } = await client.terminals.ticket(sandboxId, { workspaceId, rows, columns });
  const url = new URL(path, baseUrl);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, terminalSubprotocol);
  socket.binaryType = 'arraybuffer';
  await opened(socket, url.host);
  return follow(socket);
}

function opened(socket: WebSocket, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () =>
      reject(new CroftError('E_UNREACHABLE', `the terminal at ${host} cannot be opened`)),
    );
  });
}

function follow(socket: WebSocket): Terminal {
  const printed: Uint8Array<ArrayBuffer>[] = [];
  const exit = Promise.withResolvers<TerminalExit>();
  let [isOver, offset] = [false, 0];
  let bell = Promise.withResolvers<void>();
  const ring = () => {
    bell.resolve();
    bell = Promise.withResolvers();
  };
  const tell = (message: object) => socket.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  exit.promise.catch(() => {});
  socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data !== 'string') printed.push(new Uint8Array(data));
    else receive(TerminalServerMessage.parse(JSON.parse(data)), exit);
    ring();
  });
  socket.addEventListener('close', () => {
    isOver = true;
    exit.reject(new CroftError('E_CONNECTION_LOST', 'the connection of the terminal broke'));
    ring();
  });
  const close = async () => {
    tell({ type: 'close' });
    await exit.promise.catch(() => {});
    socket.close();
  };

  return {
    exit: exit.promise,
    write: (typed) => socket.send(typeof typed === 'string' ? new TextEncoder().encode(typed) : typed),
    resize: (rows, columns) => void tell({ type: 'resize', rows, columns }),
    close,
    [Symbol.asyncDispose]: close,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const rung = bell.promise;
        for (let piece = printed.shift(); piece; piece = printed.shift()) {
          yield piece;
          // The server sends no more than is read.
          offset += piece.length;
          tell({ type: 'ack', offset });
        }
        if (isOver) return;
        await rung;
      }
    },
  };
}

function receive(said: TerminalServerMessage, exit: PromiseWithResolvers<TerminalExit>): void {
  if (said.type === 'exit') exit.resolve({ code: said.code, signal: said.signal });
  if (said.type === 'error') exit.reject(new CroftError('E_INTERNAL', said.message, { details: { code: said.code } }));
}
