import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryPrefix } from '../../src/core/files/temporary-prefix.ts';
import { connectStdio, type McpSession, type ToolAnswer } from '../support/harness.ts';

/** Results of each line that a process added. A call that was cut off may or may not have been carried out. */
export interface WriterLog {
  readonly acknowledged: Set<string>;
  readonly unknown: Set<string>;
  readonly refused: Map<string, number>;
  kills: number;
}

/** Whether enough happened for the test to mean something. */
export function isEnough({ acknowledged, refused, kills }: WriterLog): boolean {
  return acknowledged.size > 50 && (refused.get('E_STALE') ?? 0) > 5 && kills > 1;
}

export function newWriterLog(): WriterLog {
  return { acknowledged: new Set(), unknown: new Set(), refused: new Map(), kills: 0 };
}

interface WriterOptions {
  /** Prefix of the marks it writes. */
  readonly name: string;
  readonly directory: string;
  readonly env?: Record<string, string>;
  readonly told: WriterLog;
  readonly clock: ReturnType<typeof createClock>;
  random(): number;
}

const movingPaths = ['moving.txt', 'elsewhere/moving.txt'];
const edited = { hot: ['hot.txt'], moving: movingPaths };
const lanes = 2;

/** Drives a `croft mcp` until the time is over. The process is killed during calls and replaced. */
export async function runWriter(options: WriterOptions): Promise<void> {
  const { directory, env, told: reported, clock, random } = options;
  for (let life = 0; !clock.isOver(); life++) {
    const session = await connectStdio(['--workspace', directory], env ? { env } : {});
    await session.call('read', { file_path: 'hot.txt' });
    if (life === 0) await clock.start();
    const ending = new AbortController();
    const kill = () => {
      reported.kills += 1;
      ending.abort();
      process.kill(pidOf(session), 'SIGKILL');
    };
    const calls = createCalls(20 + random() * 60, () => setTimeout(kill, random() * 30));
    const working = Array.from({ length: lanes }, (_, lane) =>
      runLane(`${life}-${lane}`, session, { ...options, calls }, ending.signal),
    );
    await Promise.all(working).finally(() => clearTimeout(calls.timer()));
    await session[Symbol.asyncDispose]().catch(() => {});
  }
}

/** Counts calls, and calls `then` after that many. */
function createCalls(many: number, then: () => NodeJS.Timeout) {
  let [left, timer]: [number, NodeJS.Timeout | undefined] = [many, undefined];
  return {
    count(): void {
      left -= 1;
      if (left <= 0) timer ??= then();
    },
    timer: () => timer,
  };
}

/**
 * Starts when all processes are running: on a busy machine that takes longer than the rest. Ends when enough has
 * happened to mean something.
 */
export function createClock(processes: number, forMs: number, isEnough: () => boolean) {
  let [missing, endsAt] = [processes, Number.POSITIVE_INFINITY];
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    async start(): Promise<void> {
      missing -= 1;
      if (missing === 0) {
        endsAt = performance.now() + forMs;
        resolve();
      }
      await promise;
    },
    isOver: () => performance.now() > endsAt && isEnough(),
  };
}

function pidOf({ transport }: McpSession): number {
  const { pid } = transport as { pid?: number | null };
  if (!pid) throw new Error('the server has no process');
  return pid;
}

type Lane = WriterOptions & { readonly calls: ReturnType<typeof createCalls> };

async function runLane(lane: string, session: McpSession, options: Lane, ended: AbortSignal): Promise<void> {
  const { name, told: reported, clock, calls, random } = options;
  for (let n = 0; !clock.isOver() && !ended.aborted; n++) {
    calls.count();
    // A session is one agent: two lanes that write the whole file would overwrite each other.
    const kinds = lane.endsWith('-0')
      ? (['move', 'whole', 'moving', 'hot', 'hot'] as const)
      : (['moving', 'hot'] as const);
    const kind = kinds[Math.floor(random() * kinds.length)] ?? 'hot';
    const mark = `mark-${name}-${lane}-${n}-${kind}`;
    try {
      if (kind === 'move') await move(session, random, reported);
      else await addMark(session, mark, kind, reported);
    } catch (thrown) {
      if (!ended.aborted) throw thrown;
      reported.unknown.add(mark);
      return;
    }
  }
}

async function addMark(
  session: McpSession,
  mark: string,
  kind: 'whole' | keyof typeof edited,
  reported: WriterLog,
): Promise<void> {
  const answer = kind === 'whole' ? await writeWhole(session, mark) : await edit(session, mark, edited[kind]);
  if (!answer.isError) reported.acknowledged.add(mark);
  else refuse(reported, answer);
}

async function edit(session: McpSession, mark: string, paths: readonly string[]): Promise<ToolAnswer> {
  let answer: ToolAnswer | undefined;
  for (const path of paths) {
    answer = await session.call('read', { file_path: path, limit: 1 });
    if (answer.isError) continue;
    answer = await session.call('edit', { file_path: path, old_string: 'END', new_string: `${mark}\nEND` });
    break;
  }
  if (!answer) throw new Error('no path was given');
  return answer;
}

/** Writes what the tool shows; a cut answer would lose lines by itself. */
async function writeWhole(session: McpSession, mark: string): Promise<ToolAnswer> {
  const seen = await session.call('read', { file_path: 'whole.txt' });
  if (seen.isError) return seen;
  const lines = seen.text.split('\n').flatMap((line) => /mark-\S+/.exec(line) ?? []);
  return session.call('write', { file_path: 'whole.txt', content: `${[...lines, mark].join('\n')}\nEND\n` });
}

async function move(session: McpSession, random: () => number, reported: WriterLog): Promise<void> {
  const [from, to] = random() < 0.5 ? movingPaths : movingPaths.toReversed();
  const answer = await session.call('move', { from, to });
  if (answer.isError) refuse(reported, answer);
}

function refuse({ refused }: WriterLog, { structured }: ToolAnswer): void {
  const code = structured?.error?.code ?? 'without a code';
  refused.set(code, (refused.get(code) ?? 0) + 1);
}

/** Counts each mark in the files of a directory. */
export function countMarks(directory: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    // A killed process leaves temporary files, which no tool shows.
    if (!entry.isFile() || entry.name.startsWith(temporaryPrefix)) continue;
    const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    for (const [mark] of text.matchAll(/mark-\S+/g)) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  return counts;
}
