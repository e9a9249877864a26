import type { TokenBucket } from '../../lib/concurrency/token-bucket.ts';
import { createTextLineSplitter } from '../../lib/text/lines/text-line-splitter.ts';
import { stripControlSequences } from '../../lib/text/strip-control-sequences.ts';

export interface OutputWatchEvent {
  readonly id: number;
  readonly at: Date;
  readonly type: 'started' | 'error' | 'idle_timeout' | 'exited';
  readonly text: string;
}

export interface OutputWatchPattern {
  readonly source: string;
  isMatch(line: string): boolean;
}

export type OutputWatch = ReturnType<typeof createOutputWatch>;

interface OutputWatchOptions {
  readonly patterns: readonly OutputWatchPattern[];
  /** Steps that the patterns may take. While they are used up, lines are not examined. */
  readonly allowance: TokenBucket;
  /** 0: never. */
  readonly idleMs: number;
  onIdle(): void;
}

const maxEvents = 1024;
const droppedAtOnce = 102;
const maxLineBytes = 4096;

/** Records events of a watched program, and tells a silent program from a working one. */
export function createOutputWatch({ patterns, allowance, idleMs, onIdle }: OutputWatchOptions) {
  const events: OutputWatchEvent[] = [];
  let [nextId, dropped, unexamined] = [1, 0, 0];
  let timer: NodeJS.Timeout | undefined;
  const splitter = createTextLineSplitter({ maxLineBytes });
  add('started', '');
  restartTimer();

  return {
    patterns,
    idleMs,
    observe(stream: 'stdout' | 'stderr', chunk: Buffer): void {
      restartTimer();
      if (stream === 'stderr') splitter.push(chunk).flatMap(toShownLines).forEach(examine);
    },
    end(how: string): void {
      clearTimeout(timer);
      splitter.flush().flatMap(toShownLines).forEach(examine);
      add('exited', how);
    },
    since: (id: number) => events.filter((event) => event.id > id),
    dropped: () => dropped,
    /** How many lines were not examined. */
    unexamined: () => unexamined,
  };

  function examine(line: string): void {
    const found = patterns.find(({ isMatch }) => !allowance.isSpent() && isMatch(line));
    if (!found && allowance.isSpent()) unexamined += 1;
    if (found) add('error', `(matched ${JSON.stringify(found.source)})  ${line}`);
  }

  function add(type: OutputWatchEvent['type'], text: string): void {
    if (events.length >= maxEvents) dropped += events.splice(0, droppedAtOnce).length;
    events.push({ id: nextId++, at: new Date(), type, text });
  }

  function restartTimer(): void {
    if (idleMs === 0) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      const seconds = `${idleMs / 1000}s`;
      add('idle_timeout', `no output for ${seconds} (configured idle_timeout=${seconds})`);
      onIdle();
    }, idleMs);
    timer.unref();
  }
}

/** Splits output as a terminal and `bash_output` show it: without colours, and with CR as the end of a line. */
function toShownLines(line: string): string[] {
  return stripControlSequences(line).split('\n');
}
