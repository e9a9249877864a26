import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/** Another may be mounted in its place by then. */
const forgetAfterMs = 60_000;

interface Looked {
  readonly keeps: boolean;
  readonly at: number;
}

const looked = new Map<number, Looked>();

/**
 * Whether the bytes of a file that were waited for are on this file system's disk before any name that the file is given
 * after that: known of XFS, and of ext4 with a journal. Of others, or where it cannot be seen, it is not taken for granted.
 */
export function keepsOrder(dev: number): boolean {
  const known = looked.get(dev);
  const now = performance.now();
  if (known && now - known.at < forgetAfterMs) return known.keeps;
  const keeps = look(dev);
  looked.set(dev, { keeps, at: now });
  return keeps;
}

function look(dev: number): boolean {
  try {
    const disk = basename(readlinkSync(`/sys/dev/block/${majorOf(dev)}:${minorOf(dev)}`));
    return existsSync(`/sys/fs/xfs/${disk}`) || hasJournal(disk);
  } catch {
    return false;
  }
}

/** It is the process that writes it which is told of. */
function hasJournal(disk: string): boolean {
  return /^\d+$/.test(readFileSync(`/sys/fs/ext4/${disk}/journal_task`, 'utf8').trim());
}

function majorOf(dev: number): number {
  return (dev >>> 8) & 0xfff;
}

function minorOf(dev: number): number {
  return (dev & 0xff) | ((dev >>> 12) & 0xfff00);
}
