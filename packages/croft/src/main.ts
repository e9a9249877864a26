import { enableCompileCache } from 'node:module';

// Before anything that takes time: the first process of a container does not even end by a signal that it does not expect.
const stop = new AbortController();
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
for (const signal of signals) process.on(signal, askToStop);

enableCompileCache();
const { loadConfig } = await import('./config.ts');
const { runCli } = await import('./cli/run.ts');

// A reader that leaves, as head does, is no failure of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
// A failure that nobody waited for is told, and does not end what everybody else has running here.
process.on('unhandledRejection', tell);
process.exitCode = await run().catch(tell);
// A pipe takes what it has room for, and the rest when its reader has read.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))));
process.exit();

/** Who asks again after a moment is impatient. Sooner it is one Ctrl-C that came twice: from the terminal, and by npm. */
function askToStop(): void {
  const giveBack = () => signals.forEach((signal) => void process.off(signal, askToStop));
  if (!stop.signal.aborted) setTimeout(giveBack, 1000).unref();
  stop.abort();
}

function run(): Promise<number> {
  return runCli(process.argv.slice(2), {
    config: () => loadConfig(process.env),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    stop: stop.signal,
  });
}

function tell(thrown: unknown): number {
  process.stderr.write(`croft: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}\n`);
  return 1;
}
