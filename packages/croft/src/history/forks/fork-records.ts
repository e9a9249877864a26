import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { fsyncPath } from '../files/fsync-tree.ts';

const ForkRecord = z.object({
  /** Names the directory of the fork. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
  kind: z.enum(['overlay', 'copy']),
  /** Path of the layer at the bottom. */
  base: z.string(),
  /** Layers above the base, newest first. */
  steps: z.array(z.string()).default([]),
  /** The path at which the fork is visible. */
  target: z.string(),
  /** Data of the creator of the fork. */
  about: z.record(z.string(), z.unknown()),
});
export type ForkRecord = z.output<typeof ForkRecord>;

/** The process that is making a fork without a record yet. */
const Maker = z.object({
  pid: z.int(),
  /** Start time of the process: in a container, every start may have the same pid. Older servers leave it out. */
  began: z.string().optional(),
  target: z.string(),
});
type Maker = z.output<typeof Maker>;

export function writeRecord(forkDirectory: string, record: ForkRecord): void {
  writeFileSync(join(forkDirectory, 'new.json'), JSON.stringify(record), { flush: true });
  renameSync(join(forkDirectory, 'new.json'), join(forkDirectory, 'fork.json'));
}

/**
 * Splits `writeRecord` in two: the slow write, which runs while the fork is made, and the returned function, which
 * makes the record count and durable.
 */
export async function prepareRecord(forkDirectory: string, record: ForkRecord): Promise<() => Promise<void>> {
  await writeFile(join(forkDirectory, 'new.json'), JSON.stringify(record), { flush: true });
  return async () => {
    renameSync(join(forkDirectory, 'new.json'), join(forkDirectory, 'fork.json'));
    await Promise.all([forkDirectory, dirname(forkDirectory)].map(fsyncPath));
  };
}

export function readRecord(forkDirectory: string): ForkRecord | undefined {
  return readJson(join(forkDirectory, 'fork.json'), ForkRecord);
}

export function writeMaker(forkDirectory: string, target: string): void {
  const maker: Maker = { pid: process.pid, began: beganAt(process.pid), target };
  writeFileSync(join(forkDirectory, 'maker.json'), JSON.stringify(maker));
}

/** Whether the process still runs and may finish the fork. */
export function isAtWork({ pid, began }: Maker): boolean {
  const running = beganAt(pid);
  return running !== undefined && (began === undefined || began === running);
}

/** Returns the start time of a process in kernel ticks since boot. */
function beganAt(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The program name before it may contain any character.
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

export function readMaker(forkDirectory: string): Maker | undefined {
  return readJson(join(forkDirectory, 'maker.json'), Maker);
}

function readJson<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
