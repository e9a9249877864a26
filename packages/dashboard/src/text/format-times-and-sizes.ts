/** Times, sizes and durations, for people. */

export function toClock(at: string | number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, '0')).join(':');
}

export function toExactTime(at: string | number): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
}

const units: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
];

/** Formats a time span in the largest unit that fits: `48 min`. */
export function toSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['s', 1];
  return `${Math.floor(seconds / size)} ${name}`;
}

export function toRelativeTime(at: string | number, now: number): string {
  const ms = now - new Date(at).getTime();
  if (Math.abs(ms) < 5000) return 'now';
  return ms > 0 ? `${toSpan(ms)} ago` : `in ${toSpan(-ms)}`;
}

/** How long a call took. */
export function toDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function toSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const power = Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][power]}`;
}

export function toCount(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** The end of an id is what differs. */
export function toShortId(id: string): string {
  return id.length <= 14 ? id : `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-6)}`;
}

const modes: Readonly<Record<string, string>> = {
  ask: 'asks before changes',
  edit: 'asks before commands',
  bypass: 'asks nothing',
};

/** Explains a permission mode in a few words. */
export function toModeWords(mode: string): string {
  return modes[mode] ?? mode;
}

/** The name that a client gave to its session. The server puts the id of its key before it. */
export function toSessionName(session: string): string {
  return session.replace(/^(?:key_[0-9a-f]{24}|admin|operator)\//, '') || 'default';
}
