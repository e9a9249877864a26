import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { LifecycleEvent } from '@croft/protocol';
import { Client } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { vi } from 'vitest';
import { croft, type Era, makeDirectory } from '../support/harness.ts';

/** Makes a workspace in which a search blocks on a pipe until it is released. */
export function makeBlockedSearch(text: string) {
  const directory = makeDirectory({ 'w/a.txt': text });
  const pipe = directory.at('w/.gitignore');
  execFileSync('mkfifo', [pipe]);
  let writingEnd: number | undefined;
  const letGo = () => {
    if (writingEnd !== undefined) closeSync(writingEnd);
    writingEnd = undefined;
  };
  return {
    at: directory.at,
    flags: ['--workspace', directory.at('w'), '--events', directory.at('events')],
    events: () => readEvents(directory.at('events')),
    async searching(): Promise<void> {
      writingEnd = await vi.waitFor(() => openIfRead(pipe));
    },
    /** A search that has not reached the pipe yet finds a file there. */
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

/** Opens the writing end of a pipe. Throws while nobody reads from it. */
function openIfRead(pipe: string): number {
  return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
}

function readEvents(file: string): LifecycleEvent[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  const events = lines.filter((line) => line !== '').map((line) => LifecycleEvent.parse(JSON.parse(line)));
  // Stall events depend on the load of the machine, not on calls.
  return events.filter(({ event }) => event !== 'lifecycle.server.stall');
}

/** Starts a `croft mcp` whose process the test controls, and a client on its streams. */
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
