import { enableCompileCache } from 'node:module';

enableCompileCache();
const { loadConfig } = await import('./config.ts');
const { runCli } = await import('./cli/run.ts');

const stop = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => stop.abort());

process.exitCode = 1;
try {
  process.exitCode = await runCli(process.argv.slice(2), {
    config: loadConfig(process.env),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    isInteractive: process.stdout.isTTY,
    stop: stop.signal,
  });
} catch (thrown) {
  process.stderr.write(`croft: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : thrown}\n`);
}
process.exit();
