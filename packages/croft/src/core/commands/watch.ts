import { createLineSplitter } from '../../lib/text/line-splitter.ts';
import { stripControl } from '../../lib/text/strip-control.ts';

export interface WatchEvent {
  readonly id: number;
  readonly at: Date;
  readonly type: 'started' | 'error' | 'idle_timeout' | 'exited';
  readonly text: string;
}

export interface WatchPattern {
  readonly source: string;
  isMatch(line: string): boolean;
}

export type Watch = ReturnType<typeof createWatch>;

export interface WatchOptions {
  readonly patterns: readonly WatchPattern[];
  /** 0 for never. */
  readonly idleMs: number;
  onIdle(): void;
}

const maxEvents = 1024;
const droppedAtOnce = 102;
const maxLineBytes = 4096;

/** Keeps what happened to a watched program, and tells a silent one from a working one. */
export function createWatch({ patterns, idleMs, onIdle }: WatchOptions) {
  const events: WatchEvent[] = [];
  let [nextId, dropped] = [1, 0];
  let timer: NodeJS.Timeout | undefined;
  const splitter = createLineSplitter({ maxLineBytes });
  add('started', '');
  restartTimer();

  return {
    patterns,
    idleMs,
    observe(stream: 'stdout' | 'stderr', chunk: Buffer): void {
      restartTimer();
      if (stream === 'stderr') splitter.push(chunk).forEach(examine);
    },
    end(how: string): void {
      clearTimeout(timer);
      splitter.flush().forEach(examine);
      add('exited', how);
    },
    since: (id: number) => events.filter((event) => event.id > id),
    dropped: () => dropped,
  };

  function examine(line: string): void {
    const found = patterns.find(({ isMatch }) => isMatch(line));
    if (found) add('error', `(matched ${JSON.stringify(found.source)})  ${stripControl(line)}`);
  }

  function add(type: WatchEvent['type'], text: string): void {
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
