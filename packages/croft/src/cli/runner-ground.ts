import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { UsageError } from '../lib/usage-error.ts';

export interface RunnerGround {
  readonly root?: string | undefined;
  readonly data: string;
  /** Opens a sandbox and closes it. */
  tryOut(): Promise<void>;
}

/** A runner that could do nothing would be chosen all the same. It does not connect, and says what it needs. */
export async function mustStand({ root, data, tryOut }: RunnerGround): Promise<void> {
  if (root !== undefined) mustWrite('--root', root);
  mustWrite('--data', data);
  mustWrite('the temporary directory', tmpdir());
  await tryOut().catch((thrown) => {
    throw thrown instanceof AppError
      ? new UsageError(`croft runner: ${thrown.message}; croft doctor tells more`)
      : thrown;
  });
}

function mustWrite(what: string, path: string): void {
  try {
    mkdirSync(path, { recursive: true });
    rmdirSync(mkdtempSync(join(path, '.croft-')));
  } catch {
    throw new UsageError(
      `croft runner: ${what} (${path}) cannot be written by uid ${process.getuid?.()}: give it to that user, or say another; ` +
        'in a container, by a volume (--volume) or --tmpfs /tmp',
    );
  }
}
