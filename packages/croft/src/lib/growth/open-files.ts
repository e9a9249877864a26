import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';

/** What a process has open, as far as it may be looked at. */
export function* openFiles(pid: number): Generator<{ path: string; stats: Stats }> {
  for (const name of attempt(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
    const path = `/proc/${pid}/fd/${name}`;
    const stats = attempt(() => statSync(path));
    if (stats) yield { path, stats };
  }
}

const deletedMapping = /^0*([\da-f]+)-0*([\da-f]+) \S+ \S+ ([\da-f]+):([\da-f]+) .* \(deleted\)$/gm;

/** What a process has mapped and seems to have no name any more. Only root may look at each. */
export function* mappedFiles(pid: number): Generator<{ device: number; stats: Stats | undefined }> {
  const maps = attempt(() => readFileSync(`/proc/${pid}/maps`, 'latin1')) ?? '';
  for (const [, from, to, major = '', minor = ''] of maps.matchAll(deletedMapping)) {
    const stats = attempt(() => statSync(`/proc/${pid}/map_files/${from}-${to}`));
    yield { device: toDevice(Number.parseInt(major, 16), Number.parseInt(minor, 16)), stats };
  }
}

/** As a file's status has it. */
function toDevice(major: number, minor: number): number {
  return (major << 8) | (minor & 0xff) | ((minor & ~0xff) << 12);
}

/** Processes come and go while they are looked at. */
function attempt<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
