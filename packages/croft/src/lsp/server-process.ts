import { AppError } from '@croft/protocol';
import { z } from 'zod';
import { toUri } from '../core/code/ports/file-uris.ts';
import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';
import { resultWithin } from '../core/commands/run-command.ts';
import type { ProgramExit, Sandbox } from '../core/commands/sandbox.ts';
import { createOutputBuffer } from '../lib/text/lines/output-buffer.ts';
import { stripControlSequences } from '../lib/text/strip-control-sequences.ts';
import { version } from '../version.ts';
import { answerServerRequests } from './answer-server-requests.ts';
import { clientCapabilities } from './client-capabilities.ts';
import { connectJsonRpc } from './json-rpc.ts';
import { createPublishedDiagnostics } from './published-diagnostics.ts';
import { ServerGoneError } from './server-errors.ts';
import { createReadySignWatch } from './watch-for-ready-sign.ts';

export interface LanguageServerLaunch {
  readonly definition: LanguageServerDefinition;
  readonly argv: readonly [string, ...string[]];
  readonly settings: Readonly<Record<string, unknown>>;
}

const startMs = 30_000;
const exitMs = 2000;
const stderrBytes = 4096;
const maxLastLines = 12;
const maxLastChars = 1500;

const Initialized = z.looseObject({ capabilities: z.looseObject({ positionEncoding: z.string().optional() }) });

export type ServerProcess = Awaited<ReturnType<typeof startServer>>;

/** Starts a server in its sandbox and does the handshake. Throws `E_CODE_SERVER` with its last words. */
export async function startServer(sandbox: Sandbox, { definition, argv, settings }: LanguageServerLaunch) {
  const ended = new AbortController();
  const running = sandbox.start({
    argv,
    environment: definition.environment ?? {},
    hasInput: true,
    signal: ended.signal,
  });
  const stderr = createOutputBuffer({ headBytes: 0, tailBytes: stderrBytes });
  running.stderr.on('data', (chunk: Buffer) => stderr.append(chunk)).on('error', () => {});
  const root = sandbox.workspacePath;
  const [readiness, published] = [createReadySignWatch(definition.ready), createPublishedDiagnostics(root)];
  let wasStopped = false;
  const { promise: over, resolve: setOver } = Promise.withResolvers<string | undefined>();
  const rpc = connectJsonRpc(running, {
    onNotification(method, params) {
      readiness.receive(method, params);
      if (method === 'textDocument/publishDiagnostics') published.receive(params);
    },
    onRequest: (method, params) => answerServerRequests(method, params, settings, toUri(root, '')),
    onEnd: setOver,
  });
  running.exit.then(
    () => rpc.end(),
    () => rpc.end(),
  );
  const lastWords = over.then(async (fault) => {
    // A server that breaks the protocol need not end by itself.
    if (fault !== undefined) running.kill();
    const exit = await resultWithin(running.exit, exitMs).catch((thrown: Error) => thrown);
    readiness.stop();
    const limits = sandbox.takeDenials().filter(({ layer }) => layer === 'limit');
    const over = limits.map(({ rule, target }) => `it reached its limit of ${rule} (${target})`);
    const end = [fault ?? toWords(exit), ...over].join('; ');
    return [end, lastLines(stderr.toText())].filter(Boolean).join('; its last words: ');
  });

  try {
    const params = toInitializeParams(root, definition);
    const options = { signal: ended.signal, timeoutMs: startMs };
    const { capabilities } = Initialized.parse(await rpc.request('initialize', params, options));
    const { positionEncoding = 'utf-16' } = capabilities;
    if (positionEncoding !== 'utf-16') throw new Error(`it counts columns in ${positionEncoding.slice(0, 20)}`);
    rpc.notify('initialized', {});
    rpc.notify('workspace/didChangeConfiguration', { settings });
    return { rpc, root, capabilities, readiness, published, lastWords, stop, wasStopped: () => wasStopped };
  } catch (thrown) {
    rpc.end();
    ended.abort();
    const failure = await resultWithin(running.exit, exitMs).catch((cause: unknown) => cause);
    if (AppError.is(failure)) throw failure;
    const why = thrown instanceof ServerGoneError ? '' : handshakeWords(thrown);
    throw new AppError('E_CODE_SERVER', [why, await lastWords].filter(Boolean).join('; '));
  }

  /** Asks the server to end, and ends it after two seconds. The sandbox is closed by its owner. */
  async function stop(): Promise<void> {
    wasStopped = true;
    const options = { signal: ended.signal, timeoutMs: exitMs };
    await rpc.request('shutdown', null, options).catch(() => {});
    rpc.notify('exit', null);
    rpc.end();
    await resultWithin(running.exit, exitMs).catch(() => {});
    ended.abort();
  }
}

function toInitializeParams(root: string, { initializationOptions }: LanguageServerDefinition) {
  const rootUri = toUri(root, '');
  return {
    // The server runs in a namespace of its own, where the number of our process means another one or none.
    processId: null,
    clientInfo: { name: 'croft', version },
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: 'workspace' }],
    capabilities: clientCapabilities,
    ...(initializationOptions && { initializationOptions }),
  };
}

function toWords(exit: ProgramExit | Error | undefined): string {
  if (exit instanceof Error) return exit.message;
  if (!exit) return 'it closed its output';
  return exit.code === null ? `it was killed by ${exit.signal}` : `it ended with ${exit.code}`;
}

function handshakeWords(thrown: unknown): string {
  return stripControlSequences(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, maxLastChars);
}

function lastLines(stderr: string): string {
  return stripControlSequences(stderr).trimEnd().split('\n').slice(-maxLastLines).join('\n').slice(-maxLastChars);
}
