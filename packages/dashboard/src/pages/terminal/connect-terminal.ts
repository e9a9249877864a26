import { RequestError, request, segment, toRequestError } from '../../server/request.ts';

export interface TerminalPlace {
  readonly sandboxId: string;
  readonly workspaceId: string;
}

export interface TerminalScreen {
  size(): { readonly rows: number; readonly columns: number };
  /** Silently: what programs asked in these bytes was answered before. An answer would be typed. */
  show(bytes: Uint8Array, isSilent: boolean, done: () => void): void;
  clear(): void;
}

export type TerminalState =
  | { readonly kind: 'connecting' | 'open' | 'away' }
  | { readonly kind: 'ended'; readonly code: number }
  | { readonly kind: 'refused'; readonly error: RequestError };

interface ConnectOptions {
  readonly target: TerminalPlace;
  readonly screen: TerminalScreen;
  /** A terminal of before, to go on with: after a reload. */
  readonly terminal: string | undefined;
  onState(state: TerminalState): void;
  onAttached(terminal: string): void;
}

type ServerMessage =
  | { readonly type: 'attached'; readonly terminal: string; readonly offset: number; readonly answered?: number }
  | { readonly type: 'exit'; readonly code: number | null }
  | { readonly type: 'error'; readonly code: string; readonly message: string };

const subprotocol = 'croft.terminal.1';
const firstWaitMs = 250;
const slowestMs = 5000;

/** Connects to a terminal, and again after a cut connection. Sends only the keys of the person. */
export function connectTerminal(options: ConnectOptions) {
  const line = new TerminalLine(options);
  void line.connect();
  return line;
}

class TerminalLine {
  readonly #options: ConnectOptions;
  #socket: WebSocket | undefined;
  /** Id of the terminal to resume, and the number of its bytes that arrived. */
  #current: string | undefined;
  #seen: number | undefined;
  /** Bytes up to here were on a screen before. */
  #answered = 0;
  #isOver = false;
  #waitMs = firstWaitMs;

  constructor(options: ConnectOptions) {
    this.#options = options;
    this.#current = options.terminal;
  }

  type(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(new TextEncoder().encode(text));
  }

  resize(): void {
    this.#tell({ type: 'resize', ...this.#options.screen.size() });
  }

  /** Ends the shell. */
  end(): void {
    this.#tell({ type: 'close' });
  }

  /** Leaves it running, for a while. */
  leave(): void {
    this.#isOver = true;
    this.#socket?.close();
  }

  async connect(): Promise<void> {
    const { target, screen } = this.#options;
    const { sandboxId, workspaceId } = target;
    const from = this.#seen === undefined ? {} : { from: this.#seen };
    const again = this.#current === undefined ? {} : { terminal: this.#current, ...from };
    try {
      const body = { workspaceId, ...screen.size(), ...again };
      const { path } = await request<{ path: string }>('POST', `/v1/sandboxes/${segment(sandboxId)}/terminals`, {
        body,
      });
      if (!this.#isOver) this.#open(path);
    } catch (thrown) {
      const error = toRequestError(thrown);
      if (error.status === 0 || error.status >= 500) this.#retry();
      else this.#finish({ kind: 'refused', error });
    }
  }

  #tell(message: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #open(path: string): void {
    const socket = new WebSocket(path, subprotocol);
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === 'string') this.#receive(JSON.parse(data) as ServerMessage);
      else this.#print(new Uint8Array(data));
    };
    socket.onclose = () => this.#retry();
    this.#socket = socket;
  }

  /** Bytes that the screen has taken are confirmed, so that a fast program waits for a slow screen. */
  #print(bytes: Uint8Array): void {
    const start = this.#seen ?? 0;
    const offset = start + bytes.length;
    this.#seen = offset;
    const shownBefore = Math.max(0, this.#answered - start);
    const confirm = () => this.#tell({ type: 'ack', offset });
    const { screen } = this.#options;
    if (shownBefore > 0)
      screen.show(bytes.subarray(0, shownBefore), true, shownBefore < bytes.length ? () => {} : confirm);
    if (shownBefore < bytes.length) screen.show(bytes.subarray(shownBefore), false, confirm);
  }

  #receive(message: ServerMessage): void {
    if (message.type === 'exit') this.#finish({ kind: 'ended', code: message.code ?? 1 });
    else if (message.type === 'error') this.#refuse(message);
    else this.#attach(message.terminal, message.offset, message.answered ?? 0);
  }

  #attach(terminal: string, offset: number, answered: number): void {
    const { screen, onAttached, onState } = this.#options;
    this.#waitMs = firstWaitMs;
    if (this.#seen === undefined) screen.clear();
    this.#seen = offset;
    this.#answered = answered;
    this.#current = terminal;
    onAttached(terminal);
    // The screen may have another size than when it asked for the terminal.
    this.resize();
    onState({ kind: 'open' });
  }

  /** A terminal of before a reload may be over: then a new one is opened. */
  #refuse({ code, message }: { readonly code: string; readonly message: string }): void {
    const isOfBefore = this.#current !== undefined && this.#seen === undefined;
    if (isOfBefore && code !== 'E_FORBIDDEN') {
      this.#current = undefined;
      this.#socket?.close();
      return;
    }
    const error = new RequestError({ code, message, hint: 'Open another terminal.', details: {} });
    this.#finish({ kind: 'refused', error });
  }

  #retry(): void {
    if (this.#isOver) return;
    this.#options.onState({ kind: 'away' });
    setTimeout(() => void this.connect(), this.#waitMs);
    this.#waitMs = Math.min(slowestMs, this.#waitMs * 2);
  }

  #finish(state: TerminalState): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onState(state);
    this.#socket?.close();
  }
}
