import { type ErrorCode, errorCatalog, TerminalTold, terminalSubprotocol } from '@croft/protocol';
import { WebSocket } from 'ws';
import type { Screen } from './screen.ts';

/** How a connection ended. */
export type Ending =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'cut'; readonly wasAttached: boolean };

/** What came so far: the terminal to go on with, and from where. */
export interface Seen {
  terminal?: string;
  from: number;
}

/** So many bytes may go without a word of thanks. */
const ackBytes = 64 * 1024;
const endOfInput = Buffer.of(4);
/** A key that a shell may miss while it sets up its terminal; that there is no more input stays true. */
const endOfInputMs = 1000;

/** One connection, to its end. */
export function connectTerminal(url: URL, screen: Screen, seen: Seen, stop: AbortSignal): Promise<Ending> {
  const { promise, resolve } = Promise.withResolvers<Ending>();
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), terminalSubprotocol, { perMessageDeflate: false });
  const say = (message: object) => socket.readyState === socket.OPEN && socket.send(JSON.stringify(message));
  const type = (bytes: Buffer) => socket.readyState === socket.OPEN && socket.send(bytes);
  let [wasAttached, acknowledged] = [false, seen.from];
  const letGo: (() => void)[] = [];
  const onStop = () => say({ type: 'close' });
  stop.addEventListener('abort', onStop, { once: true });
  socket.on('error', () => {});
  socket.on('close', () => {
    for (const leave of letGo) leave();
    stop.removeEventListener('abort', onStop);
    resolve({ kind: 'cut', wasAttached });
  });
  socket.on('message', (data: Buffer, isBinary) => (isBinary ? onBytes(data) : onTold(data)));
  return promise;

  function onBytes(bytes: Buffer): void {
    screen.show(bytes);
    seen.from += bytes.length;
    if (seen.from - acknowledged < ackBytes) return;
    acknowledged = seen.from;
    say({ type: 'ack', offset: seen.from });
  }

  /** Not before it is attached: what is typed until then waits, and is not lost. */
  function listen(): void {
    letGo.push(
      screen.onKeys(type),
      screen.onEnd(endInput),
      screen.onResize(() => say({ type: 'resize', ...screen.size() })),
    );
  }

  function endInput(): void {
    type(endOfInput);
    const timer = setInterval(() => type(endOfInput), endOfInputMs);
    letGo.push(() => clearInterval(timer));
  }

  function onTold(data: Buffer): void {
    const told = readTold(data);
    if (!told) socket.terminate();
    else if (told.type === 'attached') {
      wasAttached = true;
      Object.assign(seen, { terminal: told.terminal, from: told.offset });
      listen();
    } else if (told.type === 'exit') resolve({ kind: 'exit', code: told.code ?? 1 });
    else resolve({ kind: 'refused', code: toCode(told.code), message: told.message });
  }
}

function readTold(data: Buffer): TerminalTold | undefined {
  try {
    return TerminalTold.parse(JSON.parse(data.toString()));
  } catch {
    return undefined;
  }
}

function toCode(code: string): ErrorCode {
  return Object.hasOwn(errorCatalog, code) ? (code as ErrorCode) : 'E_INTERNAL';
}
