import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryPrefix } from '../../src/core/files/temporary-prefix.ts';
import { durabilities } from '../../src/core/storage/durability.ts';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';

const kills = { least: 5, most: 30 };
const maxMs = 10_000;
const linesOf = { small: 100, medium: 5000, large: 12_000 };

/** A file that a lane of calls changes again and again, and what it may hold when they are cut off. */
interface Tracked {
  readonly path: string;
  readonly lines: number;
  changes: number;
  acknowledged: string | undefined;
  underWay: string | undefined;
}

test.each(durabilities)(
  'kill −9 during writes and edits leaves each file whole, with every acknowledged change: %s',
  async (durability) => {
    using fixture = makeDirectory();
    mkdirSync(fixture.at('sub'));
    const files = ['', 'sub/'].flatMap((directory) =>
      Object.entries(linesOf).map(([name, lines]) => trackNew(`${directory}${name}.txt`, lines)),
    );
    const endAt = performance.now() + maxMs;
    let rounds = 0;
    for (const count of fc.sample(fc.integer({ min: 1, max: 50 }), { numRuns: kills.most, seed: 1 })) {
      if (rounds >= kills.least && performance.now() > endAt && leftovers(fixture.path).length > 0) break;
      await changeUntilKilled(['--workspace', fixture.path, '--durability', durability], files, count);
      for (const file of files) checkOutcome(file, fixture.at(file.path));
      rounds += 1;
    }
    // Without a half-written file no kill came in the middle, and the test has shown nothing.
    expect(leftovers(fixture.path).length).toBeGreaterThan(0);
    expect(readdirSync(fixture.path).filter(isKept)).toEqual(['large.txt', 'medium.txt', 'small.txt', 'sub']);
    await expectSweep(fixture.path);
    for (const file of files) checkOutcome(file, fixture.at(file.path));
  },
);

/** Changes all files side by side, and kills the server when `count` changes have been acknowledged. */
async function changeUntilKilled(flags: readonly string[], files: readonly Tracked[], count: number): Promise<void> {
  await using session = await connectStdio(flags);
  const { pid } = session.transport as StdioClientTransport;
  const closed = new Promise<void>((resolve) => {
    session.client.onclose = resolve;
  });
  let [acknowledged, isKilled] = [0, false];
  const kill = () => {
    isKilled = true;
    process.kill(pid!, 'SIGKILL');
  };

  await Promise.all(
    files.map(async (file) => {
      if (file.acknowledged !== undefined)
        await session.call('read', { file_path: file.path, limit: 1 }).catch(() => {});
      while (!isKilled) {
        const answer = await change(session, file).catch((thrown) => {
          if (!isKilled) throw thrown;
        });
        if (!answer) return;
        expect(answer.text).toMatch(/^(wrote|replaced)/);
        [file.acknowledged, file.underWay] = [file.underWay, undefined];
        acknowledged += 1;
        if (acknowledged === count) kill();
      }
    }),
  );
  await closed;
}

/** Writes and edits in turn. */
function change(session: McpSession, file: Tracked) {
  const { path, acknowledged, lines } = file;
  file.changes += 1;
  const header = `${path} after ${file.changes} changes\n`;
  if (acknowledged !== undefined && file.changes % 2 === 0) {
    const old = acknowledged.slice(0, acknowledged.indexOf('\n') + 1);
    file.underWay = header + acknowledged.slice(old.length);
    return session.call('edit', { file_path: path, old_string: old, new_string: header });
  }
  const line = `${String(file.changes).padStart(78, '.')}\n`;
  file.underWay = header + line.repeat(lines);
  return session.call('write', { file_path: path, content: file.underWay });
}

/** The file holds the last acknowledged content or the one that was under way, to the byte; it becomes the last. */
function checkOutcome(file: Tracked, path: string): void {
  const actual = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  const isWhole = actual === file.acknowledged || actual === file.underWay;
  expect(isWhole, `${path} holds ${actual?.length} characters: ${actual?.slice(0, 60)}`).toBe(true);
  [file.acknowledged, file.underWay] = [actual, undefined];
}

/** What the kills left is seen by no tool, and gone after the next write once it is old. */
async function expectSweep(root: string): Promise<void> {
  const hourAgo = Date.now() / 1000 - 3600;
  for (const path of leftovers(root)) utimesSync(path, hourAgo, hourAgo);
  await using session = await connectStdio(['--workspace', root]);
  const answers = await Promise.all([
    session.call('list'),
    session.call('list', { path: 'sub' }),
    session.call('glob', { pattern: '**' }),
    session.call('grep', { pattern: '.', output_mode: 'files_with_matches' }),
  ]);
  expect(JSON.stringify(answers)).not.toContain(temporaryPrefix);
  for (const path of ['after.txt', 'sub/after.txt']) await session.call('write', { file_path: path, content: 'after' });
  expect(leftovers(root)).toEqual([]);
}

function leftovers(root: string): string[] {
  return [root, `${root}/sub`].flatMap((directory) =>
    readdirSync(directory)
      .filter((name) => !isKept(name))
      .map((name) => `${directory}/${name}`),
  );
}

function isKept(name: string): boolean {
  return !name.startsWith(temporaryPrefix);
}

function trackNew(path: string, lines: number): Tracked {
  return { path, lines, changes: 0, acknowledged: undefined, underWay: undefined };
}
