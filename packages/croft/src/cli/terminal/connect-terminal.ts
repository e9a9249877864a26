import { type ErrorCode, errorCatalog, TerminalServerMessage, terminalSubprotocol } from '@croft/protocol';
import { WebSocket } from 'ws';
import type { RawTerminal } from './raw-terminal.ts';

/** How a connection ended. */
export type TerminalEnding =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string }
  | { readonly kind: 'cut'; readonly wasAttached: boolean };

/** The terminal to resume, and how many bytes of its output have arrived. */
interface TerminalProgress {
  terminal?: string;
  from: number;
}

/** The client acknowledges output after this many bytes. */
const ackBytes = 64 * 1024;
const endOfInput = Buffer.of(4);
/** End of input is sent repeatedly, because a shell may miss the key while it sets up its terminal. */
const endOfInputMs = 1000;

/** Runs one connection to its end. */
export function connectTerminal(
  url: URL,
  screen: RawTerminal,
  seen: TerminalProgress,
  stop: AbortSignal,
): Promise<TerminalEnding> {
  const { promise, resolve } = Promise.withResolvers<TerminalEnding>();
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
  socket.on('message', (data: Buffer, isBinary) => (isBinary ? onBytes(data) : onMessage(data)));
  return promise;

  function onBytes(bytes: Buffer): void {
    screen.show(bytes);
    seen.from += bytes.length;
    if (seen.from - acknowledged < ackBytes) return;
    acknowledged = seen.from;
    say({ type: 'ack', offset: seen.from });
  }

  /** Starts after the terminal is attached: keys typed before that stay in the input and are not lost. */
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

  function onMessage(data: Buffer): void {
    const received = readServerMessage(data);
    if (!received) socket.terminate();
    else if (received.type === 'attached') {
      wasAttached = true;
      Object.assign(seen, { terminal: received.terminal, from: received.offset });
      listen();
    } else if (received.type === 'exit') resolve({ kind: 'exit', code: received.code ?? 1 });
    else resolve({ kind: 'refused', code: toCode(received.code), message: received.message });
  }
}

function readServerMessage(data: Buffer): TerminalServerMessage | undefined {
  try {
    return TerminalServerMessage.parse(JSON.parse(data.toString()));
  } catch {
    return undefined;
  }
}

function toCode(code: string): ErrorCode {
  return Object.hasOwn(errorCatalog, code) ? (code as ErrorCode) : 'E_INTERNAL';
}
