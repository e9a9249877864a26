import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { dirname } from 'node:path';

/**
 * Loaded into the peer before its own code. The peer then syncs its writes to the disk before it answers, as Croft
 * does, so that both sides make the same promise.
 */
const { writeFile, rename } = fs;

type Options = Parameters<typeof writeFile>[2];

fs.writeFile = async (path, data, options) => {
  const given = typeof options === 'string' ? { encoding: options } : options;
  await writeFile(path, data, { ...given, flush: true } as Options);
  // A file that is put in place by a rename gets its name made durable by that rename.
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
