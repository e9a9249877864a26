import { enableCompileCache, getCompileCacheDir } from 'node:module';
import { isatty } from 'node:tty';

// Before anything that takes time: the first process of a container ignores every signal that it has no handler for.
const stop = new AbortController();
const signals = ['SIGTERM', 'SIGINT'] as const;
for (const signal of signals) process.on(signal, askToStop);
const hadTerminal = isatty(0);
const hangUpListeners = new Set<() => void>();
process.on('SIGHUP', hangUp);

if (getCompileCacheDir() === undefined) await makeCompileCache();
const { loadConfig } = await import('./config.ts');
const { runCli } = await import('./cli/entry/run-cli.ts');

// A reader that closes the pipe early, as `head` does, is not an error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// An unhandled rejection is logged and does not end what other callers have running.
process.on('unhandledRejection', tell);
process.exitCode = await run().catch(tell);
// Waits until the reader has read everything: a pipe buffers only a part.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
process.exit();

/** Creates the compile cache at the first start. bin/start.mjs finds it at the next one. */
async function makeCompileCache(): Promise<void> {
  // Node runs the code in the cache. Its default directory is shared by all users, so another user could have made it.
  const { findCacheDirectory } = await import('./lib/files/temporary-directory.ts');
  const compiled = findCacheDirectory('compiled');
  if (compiled !== undefined) enableCompileCache(compiled);
}

/**
 * A second signal after a moment ends the program at once. An earlier one is the same Ctrl-C, sent by the terminal and
 * by npm.
 */
function askToStop(signal: NodeJS.Signals): void {
  const giveBack = () => {
    for (const signal of signals) process.off(signal, askToStop);
    process.off('SIGHUP', hangUp);
  };
  if (!stop.signal.aborted) setTimeout(giveBack, 1000).unref();
  stop.abort(new DOMException(signal, 'AbortError'));
}

/** Log rotation sends SIGHUP, and so does the kernel when the terminal is gone. */
function hangUp(): void {
  const isTerminalGone = hadTerminal && !isatty(0);
  if (isTerminalGone || hangUpListeners.size === 0) askToStop('SIGHUP');
  else for (const listener of hangUpListeners) listener();
}

function onHangUp(listener: () => void): Disposable {
  hangUpListeners.add(listener);
  return { [Symbol.dispose]: () => void hangUpListeners.delete(listener) };
}

function run(): Promise<number> {
  return runCli(process.argv.slice(2), {
    config: () => loadConfig(process.env),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stop: stop.signal,
    onHangUp,
  });
}

function tell(thrown: unknown): number {
  process.stderr.write(`croft: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}\n`);
  return 1;
}
