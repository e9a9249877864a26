import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Bare ripgrep as a Node program would start it: its output, all of it in memory. */
export async function runRipgrep(directory: string, args: readonly string[]): Promise<Buffer> {
  const child = spawn('rg', ['--no-config', ...args], { cwd: directory, stdio: ['ignore', 'pipe', 'ignore'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`rg ${args.join(' ')} ended with ${code}`);
  return Buffer.concat(chunks);
}
