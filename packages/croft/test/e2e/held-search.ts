import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';
import { Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { vi } from 'vitest';
import { croft, type Era, makeDirectory } from '../harness.ts';

/** A workspace in which a search waits at a pipe until it is let go. */
export function makeHeldPlace(text: string) {
  const directory = makeDirectory({ 'w/a.txt': text });
  const pipe = directory.at('w/.gitignore');
  execFileSync('mkfifo', [pipe]);
  let held: number | undefined;
  const letGo = () => {
    if (held !== undefined) closeSync(held);
    held = undefined;
  };
  return {
    at: directory.at,
    flags: ['--workspace', directory.at('w'), '--events', directory.at('events')],
    events: () => readEvents(directory.at('events')),
    async searching(): Promise<void> {
      held = await vi.waitFor(() => openIfRead(pipe));
    },
    /** A search that has not come to the pipe yet finds a file there. */
    release(): void {
      rmSync(pipe);
      writeFileSync(pipe, '');
      letGo();
    },
    [Symbol.dispose]() {
      letGo();
      directory[Symbol.dispose]();
    },
  };
}

/** The end of a pipe for writing. Throws while nobody reads from the other. */
function openIfRead(pipe: string): number {
  return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
}

function readEvents(file: string): LifecycleEvent[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => LifecycleEvent.parse(JSON.parse(line)));
}

/** A `croft mcp` whose process the test holds, and a client on its streams: the transport reads and writes any two. */
export async function connectChild(args: readonly string[], era: Era) {
  const child = spawn(croft, ['mcp', ...args], { stdio: ['pipe', 'pipe', 'ignore'] });
  const pinned = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
  const client = new Client({ name: 'croft-test', version: '1.0.0' }, era === '2026' ? pinned : {});
  await client.connect(new StdioServerTransport(child.stdout, child.stdin));
  return {
    child,
    client,
    async [Symbol.asyncDispose]() {
      await client.close();
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
