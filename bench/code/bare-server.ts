import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** A language server without anything around it, as an editor talks to it. */
export interface BareServer extends Disposable {
  /** Asks for the definition at a place, from 0. Throws if there is none. */
  definition(path: string, line: number, character: number): Promise<unknown>;
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
}

export async function startBareServer([program, ...args]: readonly [string, ...string[]], directory: string) {
  const child = spawn(program, args, { cwd: directory, stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number | string, (message: Message) => void>();
  const opened = new Set<string>();
  let [lastId, rest] = [0, Buffer.alloc(0)];
  child.stdout.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (let message = takeMessage(); message; message = takeMessage()) receive(message);
  });

  function takeMessage(): Message | undefined {
    const end = rest.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/i.exec(rest.toString('latin1', 0, Math.max(0, end)))?.[1]);
    if (end === -1 || rest.length < end + 4 + length) return undefined;
    const message = JSON.parse(rest.toString('utf8', end + 4, end + 4 + length)) as Message;
    rest = rest.subarray(end + 4 + length);
    return message;
  }

  function receive(message: Message): void {
    if (message.id !== undefined && message.method !== undefined) send({ id: message.id, result: null });
    else if (message.id !== undefined) waiting.get(message.id)?.(message);
  }

  function send(message: object): void {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message });
    child.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  function request(method: string, params: object): Promise<Message> {
    const id = ++lastId;
    const { promise, resolve } = Promise.withResolvers<Message>();
    waiting.set(id, resolve);
    send({ id, method, params });
    return promise;
  }

  const rootUri = pathToFileURL(directory).href;
  await request('initialize', { processId: null, rootUri, capabilities: {} });
  send({ method: 'initialized', params: {} });
  const server: BareServer = {
    async definition(path, line, character) {
      const uri = pathToFileURL(path).href;
      const textDocument = { uri, languageId: 'typescript', version: 1, text: readFileSync(path, 'utf8') };
      if (!opened.has(uri)) send({ method: 'textDocument/didOpen', params: { textDocument } });
      opened.add(uri);
      const params = { textDocument: { uri }, position: { line, character } };
      const { result } = await request('textDocument/definition', params);
      if (!JSON.stringify(result ?? null).includes('uri')) throw new Error('the bare server found no definition');
      return result;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
  return server;
}
