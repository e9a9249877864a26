import { RequestError, request, segment, toRequestError } from '../../server/request.ts';

export interface TerminalTarget {
  readonly sandboxId: string;
  readonly workspaceId: string;
}

export interface TerminalScreen {
  size(): { readonly rows: number; readonly columns: number };
  show(bytes: Uint8Array, done: () => void): void;
  clear(): void;
}

export type TerminalState =
  | { readonly kind: 'connecting' | 'open' | 'away' }
  | { readonly kind: 'ended'; readonly code: number }
  | { readonly kind: 'refused'; readonly error: RequestError };

interface ConnectOptions {
  readonly target: TerminalTarget;
  readonly screen: TerminalScreen;
  /** A terminal of before, to go on with: after a reload. */
  readonly terminal: string | undefined;
  onState(state: TerminalState): void;
  onAttached(terminal: string): void;
}

type Told =
  | { readonly type: 'attached'; readonly terminal: string; readonly offset: number }
  | { readonly type: 'exit'; readonly code: number | null }
  | { readonly type: 'error'; readonly code: string; readonly message: string };

const subprotocol = 'croft.terminal.1';
const slowestMs = 5000;

/** A terminal that survives cut connections. Nothing is typed but what the person types. */
export function connectTerminal({ target, screen, terminal, onState, onAttached }: ConnectOptions) {
  let socket: WebSocket | undefined;
  let [current, seen, isOver] = [terminal, undefined as number | undefined, false];
  let waitMs = 250;
  void connect();

  return {
    type(text: string): void {
      if (socket?.readyState === WebSocket.OPEN) socket.send(new TextEncoder().encode(text));
    },
    resize(): void {
      tell({ type: 'resize', ...screen.size() });
    },
    /** Ends the shell. */
    end(): void {
      tell({ type: 'close' });
    },
    /** Leaves it running, for a while. */
    leave(): void {
      isOver = true;
      socket?.close();
    },
  };

  function tell(message: object): void {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }

  async function connect(): Promise<void> {
    try {
      const { sandboxId, workspaceId } = target;
      const again = current === undefined ? {} : { terminal: current, ...(seen !== undefined && { from: seen }) };
      const body = { workspaceId, ...screen.size(), ...again };
      const { path } = await request<{ path: string }>('POST', `/v1/sandboxes/${segment(sandboxId)}/terminals`, {
        body,
      });
      if (!isOver) open(path);
    } catch (thrown) {
      const error = toRequestError(thrown);
      if (error.status === 0 || error.status >= 500) retry();
      else end({ kind: 'refused', error });
    }
  }

  function open(path: string): void {
    const opened = new WebSocket(path, subprotocol);
    opened.binaryType = 'arraybuffer';
    opened.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) =>
      typeof data === 'string' ? hear(JSON.parse(data) as Told) : print(new Uint8Array(data));
    opened.onclose = () => {
      if (!isOver) retry();
    };
    socket = opened;
  }

  /** What the screen has taken is confirmed, so that a fast program waits for a slow screen. */
  function print(bytes: Uint8Array): void {
    seen = (seen ?? 0) + bytes.length;
    const offset = seen;
    screen.show(bytes, () => tell({ type: 'ack', offset }));
  }

  function hear(told: Told): void {
    if (told.type === 'exit') return end({ kind: 'ended', code: told.code ?? 1 });
    if (told.type === 'error') return refuse(told);
    waitMs = 250;
    if (seen === undefined) screen.clear();
    seen = told.offset;
    current = told.terminal;
    onAttached(told.terminal);
    onState({ kind: 'open' });
  }

  /** A terminal of before may be over: then a new one is opened. */
  function refuse({ code, message }: Extract<Told, { type: 'error' }>): void {
    if (current !== undefined && current === terminal && seen === undefined && code !== 'E_FORBIDDEN') {
      current = undefined;
      terminal = undefined;
      socket?.close();
      return;
    }
    end({ kind: 'refused', error: new RequestError({ code, message, hint: 'Open another terminal.', details: {} }) });
  }

  function retry(): void {
    if (isOver) return;
    onState({ kind: 'away' });
    setTimeout(() => void connect(), waitMs);
    waitMs = Math.min(slowestMs, waitMs * 2);
  }

  function end(state: TerminalState): void {
    if (isOver) return;
    isOver = true;
    onState(state);
    socket?.close();
  }
}
