import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { syncPath } from './sync-tree.ts';

const ForkRecord = z.object({
  /** By what the directory is known: a namespace, an id. */
  id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
  kind: z.enum(['overlay', 'copy']),
  /** What is shown where nothing was written. */
  base: z.string(),
  /** Layers above that, the newest first. */
  steps: z.array(z.string()).default([]),
  /** Where it is seen. */
  target: z.string(),
  /** Whatever whoever made it wants to know again. */
  about: z.record(z.string(), z.unknown()),
});
export type ForkRecord = z.output<typeof ForkRecord>;

/** Who is making one that has no record yet. */
const Maker = z.object({
  pid: z.int(),
  /** When that began: in a container every start has the same number. Left out by older servers. */
  began: z.string().optional(),
  target: z.string(),
});
export type Maker = z.output<typeof Maker>;

export function writeRecord(place: string, record: ForkRecord): void {
  writeFileSync(join(place, 'new.json'), JSON.stringify(record), { flush: true });
  renameSync(join(place, 'new.json'), join(place, 'fork.json'));
}

/** The same in two: what takes a disk, while the rest is made, and what makes it count, for good. */
export async function prepareRecord(place: string, record: ForkRecord): Promise<() => Promise<void>> {
  await writeFile(join(place, 'new.json'), JSON.stringify(record), { flush: true });
  return async () => {
    renameSync(join(place, 'new.json'), join(place, 'fork.json'));
    await Promise.all([place, dirname(place)].map(syncPath));
  };
}

export function readRecord(place: string): ForkRecord | undefined {
  return readJson(join(place, 'fork.json'), ForkRecord);
}

export function writeMaker(place: string, target: string): void {
  const maker: Maker = { pid: process.pid, began: beganAt(process.pid), target };
  writeFileSync(join(place, 'maker.json'), JSON.stringify(maker));
}

/** Whether it may still come to an end. */
export function isAtWork({ pid, began }: Maker): boolean {
  const running = beganAt(pid);
  return running !== undefined && (began === undefined || began === running);
}

/** In ticks of the kernel, from its own start. */
function beganAt(pid: number): string | undefined {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before it may have anything in it.
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

export function readMaker(place: string): Maker | undefined {
  return readJson(join(place, 'maker.json'), Maker);
}

function readJson<Schema extends z.ZodType>(file: string, schema: Schema): z.output<Schema> | undefined {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return undefined;
  }
}
