import { readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { tryOrUndefined } from '../../lib/try-or-undefined.ts';

/** Lists the open files of a process that this user may inspect. */
export function* listOpenFiles(pid: number): Generator<{ path: string; stats: Stats }> {
  for (const name of tryOrUndefined(() => readdirSync(`/proc/${pid}/fd`)) ?? []) {
    const path = `/proc/${pid}/fd/${name}`;
    const stats = tryOrUndefined(() => statSync(path));
    if (stats) yield { path, stats };
  }
}

const deletedMapping = /^0*([\da-f]+)-0*([\da-f]+) \S+ \S+ ([\da-f]+):([\da-f]+) .* \(deleted\)$/gm;

/**
 * Lists mapped files of a process that seem to be deleted. Only root can stat them; for others `stats` is `undefined`.
 */
export function* listMappedFiles(pid: number): Generator<{ device: number; stats: Stats | undefined }> {
  const maps = tryOrUndefined(() => readFileSync(`/proc/${pid}/maps`, 'latin1')) ?? '';
  for (const [, from, to, major = '', minor = ''] of maps.matchAll(deletedMapping)) {
    const stats = tryOrUndefined(() => statSync(`/proc/${pid}/map_files/${from}-${to}`));
    yield { device: toDevice(Number.parseInt(major, 16), Number.parseInt(minor, 16)), stats };
  }
}

/** Encodes a device number as `stat` does. */
function toDevice(major: number, minor: number): number {
  return (major << 8) | (minor & 0xff) | ((minor & ~0xff) << 12);
}
