import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished, vi } from 'vitest';
import { once } from '../../src/lib/concurrency/once.ts';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { type machines, startOnRunner } from './code-workspace.ts';

type Machine = (typeof machines)[number];
export type Place = ReturnType<typeof makeDirectory>;

export interface Session extends Pick<McpSession, 'call'> {
  /** The process that has the index. */
  readonly pid: number;
  close(): Promise<void>;
}

export const sources = {
  'src/config.ts':
    '/** Reads the settings of the program. */\nexport function parseConfig(text: string) {\n  return JSON.parse(text);\n}\n',
  'src/server.ts':
    'export class HTTPServer {\n  listen(port: number) {\n    return parseConfig(String(port));\n  }\n}\n',
  'src/notes.ts': '// parseConfig is documented here, parseConfig again\nexport const notes = 1;\n',
  'docs/guide.md': '# Guide\n\nThe frobnicator needs a frobnication.\n',
};

/** A workspace in `project`; servers of the test store their data in `data`. */
export function makeProject(files: Readonly<Record<string, string>> = sources): Place {
  const place = makeDirectory(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`project/${path}`, text])),
  );
  onTestFinished(() => place[Symbol.dispose]());
  return place;
}

/** Connects to a server of the project. It stores its index in `data`, and so does the runner that has the files. */
export async function connect(
  place: Place,
  { machine = 'this machine' as Machine, flags = [] as readonly string[], data = 'data' } = {},
): Promise<Session> {
  const session = machine === 'this machine' ? await connectHere(place, flags, data) : await connectThere(place, data);
  onTestFinished(session.close);
  return session;
}

async function connectHere(place: Place, flags: readonly string[], data: string): Promise<Session> {
  const args = ['--workspace', place.at('project'), ...flags];
  const session = await connectStdio(args, { env: { CROFT_DATA: place.at(data) } });
  return {
    call: session.call,
    pid: (session.transport as StdioClientTransport).pid ?? 0,
    close: once(() => session[Symbol.asyncDispose]()),
  };
}

async function connectThere(place: Place, data: string): Promise<Session> {
  const { agent, runner, platform } = await startOnRunner(place.at('project'), { args: ['--data', place.at(data)] });
  return {
    call: agent.call as Session['call'],
    pid: runner.child.pid ?? 0,
    close: once(async () => {
      await agent[Symbol.asyncDispose]();
      await runner.stop('SIGTERM');
      await runner[Symbol.asyncDispose]();
      await platform[Symbol.asyncDispose]();
    }),
  };
}

export async function search(session: Pick<Session, 'call'>, query: string, args: Record<string, unknown> = {}) {
  const { structured } = await session.call('search_code', { query, ...args });
  return (structured as { items: { path: string; line: number; name?: string }[] }).items.map(
    ({ path, line, name = '' }) => `${path}:${line} ${name}`.trim(),
  );
}

export function findIndex(place: Place, data = 'data'): string | undefined {
  const base = place.at(`${data}/code`);
  const [directory] = existsSync(base) ? readdirSync(base) : [];
  return directory === undefined ? undefined : join(base, directory, 'index.db');
}

/** Starts to build an index, and waits until it has every file: then what it does not know is not found by reading files either. */
export async function buildIndex(session: Pick<Session, 'call'>, place: Place, data = 'data'): Promise<string> {
  await session.call('search_code', { query: 'anything' });
  return untilBuilt(place, data);
}

/** Asks nobody: an index is built by itself. */
export async function untilBuilt(place: Place, data = 'data'): Promise<string> {
  return vi.waitFor(
    () => {
      const file = findIndex(place, data) ?? '';
      expect(countDue(file)).toBe(0);
      expect(readIndex(file, "SELECT value FROM state WHERE name = 'listed'")).toEqual([{ value: 1 }]);
      return file;
    },
    { timeout: 60_000, interval: 100 },
  );
}

export function readIndex(file: string, sql: string): Record<string, unknown>[] {
  using database = new DatabaseSync(file, { readOnly: true });
  return database.prepare(sql).all() as Record<string, unknown>[];
}

/** How many files still have to be read. */
export function countDue(file: string): number {
  return Number(readIndex(file, 'SELECT count(*) AS n FROM files WHERE due = 1')[0]?.n);
}

export const indexedPaths = (file: string) =>
  readIndex(file, 'SELECT path FROM files ORDER BY path').map(({ path }) => path);
