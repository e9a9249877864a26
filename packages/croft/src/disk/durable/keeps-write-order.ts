import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** Cached for this long only: another file system may be mounted under the same device number. */
const forgetAfterMs = 60_000;

interface CachedAnswer {
  readonly keeps: boolean;
  readonly at: number;
}

const cachedAnswers = new Map<number, CachedAnswer>();

/**
 * Whether this file system writes the synced bytes of a file to the disk before any name that the file is given later.
 * True for XFS and for ext4 with a journal; false for any other and if it cannot be determined.
 */
export function keepsWriteOrder(dev: number): boolean {
  const known = cachedAnswers.get(dev);
  const now = performance.now();
  if (known && now - known.at < forgetAfterMs) return known.keeps;
  const keeps = readFromSystem(dev);
  cachedAnswers.set(dev, { keeps, at: now });
  return keeps;
}

function readFromSystem(dev: number): boolean {
  try {
    const disk = basename(readlinkSync(`/sys/dev/block/${majorOf(dev)}:${minorOf(dev)}`));
    return existsSync(`/sys/fs/xfs/${disk}`) || hasJournal(disk);
  } catch {
    return false;
  }
}

/** ext4 exposes the process id of its journal thread if it has a journal. */
function hasJournal(disk: string): boolean {
  return /^\d+$/.test(readFileSync(`/sys/fs/ext4/${disk}/journal_task`, 'utf8').trim());
}

function majorOf(dev: number): number {
  return (dev >>> 8) & 0xfff;
}

function minorOf(dev: number): number {
  return (dev & 0xff) | ((dev >>> 12) & 0xfff00);
}
