import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface ToolCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A started MCP server. Every answer that is an error throws. */
export interface ToolClient extends AsyncDisposable {
  call(call: ToolCall): Promise<unknown>;
  /** All calls at once; resolves with the last answer. */
  callAll(calls: readonly ToolCall[]): Promise<unknown>;
  /** Every client asks for the tools before its first call. Left out: the client has done so. */
  listTools?(): Promise<unknown>;
  /** A call of which the text matters. */
  ask(call: ToolCall): Promise<string>;
}

export type StartClient = (argv: readonly [string, ...string[]]) => Promise<ToolClient>;

interface Waiting {
  resolve(line: Buffer): void;
  reject(error: Error): void;
}

interface Response {
  readonly id?: number;
  readonly result?: { readonly content?: readonly { readonly text?: string }[] };
}

const newline = 10;
const stopMs = 2000;

/**
 * Starts a client that finds the lines, matches their ids and looks for the two marks of an error, without parsing. So
 * the figures are those of the server.
 */
export const startLeanClient: StartClient = async ([program, ...args]) => {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let words = '';
  let rest: Buffer[] = [];

  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    words = (words + chunk).slice(-2000);
  });
  child.stdout.on('data', takeChunk);
  // A write to a server that has ended; `close` tells why.
  child.stdin.on('error', () => {});
  child.once('error', failAll);
  child.once('close', (code) => failAll(new Error(`${program} ${args.join(' ')} ended with ${code}: ${words}`)));

  function failAll(error: Error): void {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function takeChunk(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const piece = chunk.subarray(start, end);
      takeLine(rest.length === 0 ? piece : Buffer.concat([...rest, piece]));
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }

  function takeLine(line: Buffer): void {
    const id = findId(line);
    const waiter = id === undefined ? undefined : waiting.get(id);
    if (id === undefined || !waiter) return;
    waiting.delete(id);
    if (isError(line)) waiter.reject(new Error(`${program} answered with an error: ${line.toString('utf8', 0, 1000)}`));
    else waiter.resolve(line);
  }

  function toRequest(method: string, params: unknown) {
    const id = ++lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    waiting.set(id, { resolve, reject });
    return { promise, line: `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n` };
  }

  function toToolRequest({ tool, args: toolArguments }: ToolCall) {
    return toRequest('tools/call', { name: tool, arguments: toolArguments });
  }

  function call(toolCall: ToolCall): Promise<Buffer> {
    const { promise, line } = toToolRequest(toolCall);
    child.stdin.write(line);
    return promise;
  }

  const hello = toRequest('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'croft-bench', version: '1.0.0' },
  });
  child.stdin.write(hello.line);
  await hello.promise;
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');

  return {
    call,
    listTools() {
      const { promise, line } = toRequest('tools/list', {});
      child.stdin.write(line);
      return promise;
    },
    callAll(calls) {
      const requests = calls.map(toToolRequest);
      child.stdin.write(requests.map(({ line }) => line).join(''));
      return Promise.all(requests.map(({ promise }) => promise));
    },
    async ask(toolCall) {
      const { result } = JSON.parse((await call(toolCall)).toString('utf8')) as Response;
      return result?.content?.map(({ text = '' }) => text).join('') ?? '';
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'close');
      child.stdin.end();
      const deadline = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended;
      clearTimeout(deadline);
    },
  };
};

/** Servers put the id first or last. Only the outermost object can begin or end so. */
function findId(line: Buffer): number | undefined {
  const head = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+)[,}]/.exec(line.toString('latin1', 0, 48));
  const found = head ?? /"id":(\d+)\}$/.exec(line.toString('latin1', Math.max(0, line.length - 24)));
  return found ? Number(found[1]) : (JSON.parse(line.toString('utf8')) as Response).id;
}

/** Inside a string the quotes would be escaped, so the text of a file can never look like this. */
export function isError(line: Buffer | string): boolean {
  return line.includes('"isError":true') || line.includes('"error":{"code":');
}
