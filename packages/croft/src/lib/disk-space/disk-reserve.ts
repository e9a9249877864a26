import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

interface DiskReserveOptions {
  readonly directory: string;
  /** Size of the reserve file. */
  readonly bytes: number;
  /** The reserve file is filled, at first and again later, when more than this plus twice its size is free. */
  readonly minFreeBytes: number;
  /** Called after the reserve file was emptied because the disk was full. */
  onReleased(): void;
}

const everyMs = 250;
const blockBytes = 1024 * 1024;
const name = 'reserve';

/**
 * Keeps a file that only occupies disk space. When the disk is full, the file is emptied, so that records that must be
 * written still can be. The file is filled again when enough space is free. Never throws.
 */
export function keepDiskReserve(options: DiskReserveOptions): Disposable {
  const { directory, bytes, minFreeBytes, onReleased } = options;
  const file = join(directory, name);
  let isChecking = false;

  async function checkDisk(): Promise<void> {
    const { bavail, bsize } = await statfs(directory);
    const [free, reservedBytes] = [bavail * bsize, await sizeOf(file)];
    if (reservedBytes > 0 && free < bytes / 2) {
      await empty(file);
      onReleased();
    } else if (reservedBytes < bytes && free > minFreeBytes + 2 * bytes) await fill(file, bytes);
  }

  const timer = setInterval(() => {
    if (isChecking) return;
    isChecking = true;
    void checkDisk()
      .catch(() => {})
      .finally(() => {
        isChecking = false;
      });
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Syncs after truncating: until then the space is not really free, because a power cut could bring the bytes back. */
async function empty(file: string): Promise<void> {
  await using handle = await open(file, constants.O_WRONLY | constants.O_NOFOLLOW);
  await handle.truncate(0);
  await handle.sync();
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** Fills the file with random bytes, which no filesystem can compress. */
async function fill(file: string, bytes: number): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const handle = await open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  const block = randomBytes(Math.min(bytes, blockBytes));
  try {
    for (let written = 0; written < bytes; written += block.length) await handle.write(block);
  } catch (thrown) {
    await handle.truncate(0);
    throw thrown;
  } finally {
    await handle.close();
  }
}
