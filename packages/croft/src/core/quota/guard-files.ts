import type { Files } from '../files/files.ts';
import type { StorageUse } from './check-quota.ts';
import type { QuotaGuard } from './quota-guard.ts';

/** Wraps `Files`: a change above the quota is refused before any of it is in place. */
export function guardFiles(files: Files, guard: QuotaGuard): Files {
  const find = (path: string) => files.stat(path).catch(() => undefined);
  return {
    ...files,
    write: (path, bytes, options) =>
      guard.judging(async (judge) => {
        judge(growth(await find(path), bytes.byteLength));
        return files.write(path, bytes, options);
      }),
    change: (path, decide, options) =>
      guard.judging((judge) => {
        const judged: typeof decide = async (current) => {
          const decided = await decide(current);
          judge(growth(current, decided.bytes.byteLength));
          return decided;
        };
        return files.change(path, judged, options);
      }),
    async upload(path, pieces, { around = (work) => work(), ...options }) {
      let size = 0;
      const counted = withinQuota(pieces, await find(path), guard, (bytes) => {
        size += bytes;
      });
      // Checked again when the file is put in place: an upload may take long, and other changes may come first.
      const placing = <T>(work: () => Promise<T>) =>
        guard.judging(async (judge) => {
          judge(growth(await find(path), size));
          return work();
        });
      return files.upload(path, counted, { ...options, around: (work) => around(() => placing(work)) });
    },
  };
}

const measureAgainBytes = 8 * 1024 * 1024;

interface Sized {
  readonly size: number;
}

function growth(before: Sized | undefined, size: number): StorageUse {
  return { bytes: size - (before?.size ?? 0), files: before ? 0 : 1 };
}

/** Ends a stream that exceeds the quota before all of it is on the disk. */
async function* withinQuota(
  pieces: AsyncIterable<Uint8Array>,
  before: Sized | undefined,
  guard: QuotaGuard,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  let [size, enough] = [0, -1];
  for await (const piece of pieces) {
    size += piece.byteLength;
    count(piece.byteLength);
    if (size > enough) {
      await guard.mustFit(growth(before, size));
      const left = Math.min(await guard.left(), guard.disk?.left() ?? Number.POSITIVE_INFINITY);
      // Others fill the disk too, so the space is checked again soon.
      enough = size + Math.min(left / 2, measureAgainBytes);
    }
    yield piece;
  }
}
