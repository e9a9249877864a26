import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { unmountBelow } from './mounts.ts';
import { watchForStalls } from './servers/watch-stalls.ts';

/** The program that users start. */
export const croft = join(import.meta.dirname, '../../bin/croft');

export const eras = ['2025', '2026'] as const;
export type Era = (typeof eras)[number];

/** Makes a directory for one test, removed at the end. `tree` maps paths to content. */
export function makeDirectory(tree: Record<string, string | Buffer> = {}, parent = tmpdir()) {
  const path = realpathSync(mkdtempSync(join(parent, 'croft-test-')));
  for (const [name, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), content);
  }
  return {
    path,
    at: (name: string) => join(path, name),
    [Symbol.dispose]: () => removeDirectory(path),
  };
}

/** Unmounts first: a mount would keep the directory, or be emptied with it. A program that was killed may still end. */
function removeDirectory(path: string): void {
  if (existsSync(path)) unmountBelow(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 5 });
}

let data: string | undefined;

/** The data directory of the servers of one test file, apart from the user's own. */
function dataDirectory(): string {
  if (data !== undefined) return data;
  const made = mkdtempSync(join(tmpdir(), 'croft-test-data-'));
  process.once('exit', () => removeDirectory(made));
  data = made;
  return made;
}

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
  readonly structured: any;
  readonly content: readonly { type: string; [key: string]: unknown }[];
  /** The raw result of the client. */
  readonly raw: { readonly [key: string]: unknown };
}

/** Returns the structured content of an answer or, as `{ error }`, the error in `_meta`. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into results of every shape.
export function structuredOf(result: { [key: string]: unknown }): any {
  const error = (result._meta as Record<string, unknown> | undefined)?.['croft/error'];
  return error === undefined ? result.structuredContent : { error };
}

export type CallOptions = Parameters<Client['callTool']>[1];

/**
 * Shorter than the test's time limit, so that a failure names the call that did not end. The default of a client is a
 * minute.
 */
const callTimeoutMs = 110_000;

/** Connects a client of the official SDK; `call` returns a tool's answer as one value. */
async function toSession(client: Client, transport: Parameters<Client['connect']>[0]) {
  await client.connect(transport);
  return {
    client,
    transport,
    async call(name: string, args: Record<string, unknown> = {}, options?: CallOptions): Promise<ToolAnswer> {
      const result = await client.callTool({ name, arguments: args }, { timeout: callTimeoutMs, ...options });
      const content = (result.content ?? []) as ToolAnswer['content'];
      const text = content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('');
      return { text, isError: result.isError === true, structured: structuredOf(result), content, raw: result };
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

export type McpSession = Awaited<ReturnType<typeof toSession>>;

/** Reads all text of a cut answer by its cursor. */
export async function readWhole(
  call: (name: string, args: Record<string, unknown>) => Promise<Pick<ToolAnswer, 'structured'>>,
  answer: Pick<ToolAnswer, 'text' | 'structured'>,
): Promise<string> {
  let [whole, cursor]: [string, string | undefined] = ['', answer.structured.nextCursor];
  if (cursor === undefined) return answer.text;
  while (cursor !== undefined) {
    const { structured }: Pick<ToolAnswer, 'structured'> = await call('next_page', { cursor });
    whole += structured.content;
    cursor = structured.nextCursor;
  }
  return whole;
}

/** Connects a real client over stdio to a real `croft mcp` with these arguments. */
export function connectStdio(
  args: readonly string[],
  { era = '2026' as Era, cwd = tmpdir(), env = {} as Record<string, string>, program = [croft] } = {},
) {
  const [command = croft, ...before] = program;
  const transport = new StdioClientTransport({
    command,
    args: [...before, 'mcp', ...args],
    cwd,
    stderr: 'ignore',
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', CROFT_DATA: dataDirectory(), ...env },
  });
  return toSession(newClient(era), transport);
}

/** Connects a real client over HTTP to a server of `startServer`. */
export function connectHttp(
  { url, token }: { url: string; token: string },
  { era = '2026' as Era, headers = {} as Record<string, string> } = {},
) {
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers: { authorization: `Bearer ${token}`, ...headers } },
  });
  return toSession(newClient(era), transport);
}

/** Starts a real `croft serve` on a free port. */
export async function startServer(
  args: readonly string[],
  { env = {} as Record<string, string>, cwd = tmpdir() } = {},
) {
  const data = makeDirectory();
  const token = 'test-token-of-sufficient-length';
  const stalls = args.includes('--events') ? undefined : watchForStalls();
  const child = spawn(croft, ['serve', '--port', '0', '--data', data.path, ...(stalls?.args ?? []), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_TOKEN: token, CROFT_DATA: dataDirectory(), ...env },
  });
  const output = collect(child);
  const url = await output.find(/croft listening on (\S+)/);
  return {
    child,
    url,
    token,
    data: data.path,
    output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      data[Symbol.dispose]();
      stalls?.[Symbol.dispose]();
    },
  };
}

/** Runs `croft` to its end. */
export async function runCroft(
  args: readonly string[],
  { cwd = tmpdir(), env = {} as Record<string, string>, input = '' } = {},
) {
  const child = spawn(croft, [...args], {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CROFT_DATA: dataDirectory(), ...env },
  });
  child.stdin.end(input);
  const output = collect(child);
  const [exitCode] = await once(child, 'close');
  return { exitCode: exitCode as number | null, stdout: output.stdout(), stderr: output.stderr() };
}

function newClient(era: Era): Client {
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  return new Client({ name: 'croft-test', version: '1.0.0' }, era === '2026' ? pinned : {});
}

/** Collects what a child prints, and can wait for output. */
export function collect(child: ChildProcess) {
  let [stdout, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  return {
    stdout: () => stdout,
    stderr: () => stderr,
    async find(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = pattern.exec(stdout + stderr);
        if (found) return found[1] ?? found[0];
        if (child.exitCode !== null) throw new Error(`exited with ${child.exitCode}: ${stdout}${stderr}`);
        await Promise.race([
          once(child.stdout as never, 'data'),
          once(child.stderr as never, 'data'),
          once(child, 'exit'),
        ]);
      }
    },
  };
}
