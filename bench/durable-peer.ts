import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';

/**
 * Loaded into the peer before its own code: its writes reach the disk before it answers, as ours do, by the same two
 * syncs. What is compared then makes the same promise on both sides.
 */
const { writeFile, rename } = fs;

type Options = Parameters<typeof writeFile>[2];

fs.writeFile = async (path, data, options) => {
  const given = typeof options === 'string' ? { encoding: options } : options;
  await writeFile(path, data, { ...given, flush: true } as Options);
  // One that is put in place by a rename has its name made durable there.
  if (given?.flag === 'wx') await syncDirectoryOf(String(path));
};
fs.rename = async (from, to) => {
  await rename(from, to);
  await syncDirectoryOf(String(to));
};
syncBuiltinESMExports();

async function syncDirectoryOf(path: string): Promise<void> {
  await using directory = await fs.open(dirname(path), 'r');
  await directory.sync();
}
