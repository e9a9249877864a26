import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '@croft/protocol';
import { reportTemporaryBase } from '../lib/files/temporary-base.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../lib/files/temporary-directory.ts';
import { UsageError } from '../lib/usage-error.ts';

interface RunnerRequirements {
  readonly root?: string | undefined;
  readonly data: string;
  /** Opens a sandbox and closes it. */
  probe(): Promise<void>;
}

/**
 * Throws, with what is missing, if this machine cannot work as a runner. It must not connect, because servers would
 * choose it.
 */
export async function checkRunnerRequirements({ root, data, probe }: RunnerRequirements): Promise<void> {
  if (root !== undefined) mustWrite('--root', root);
  mustWrite('--data', data);
  mustWrite('the temporary directory', dirname(reportTemporaryBase().path), () =>
    removeTemporaryDirectory(makeTemporaryDirectory('runner')),
  );
  await probe().catch((thrown) => {
    throw thrown instanceof AppError
      ? new UsageError(`croft runner: ${thrown.message}; croft doctor tells more`)
      : thrown;
  });
}

function mustWrite(what: string, path: string, write = writeTo): void {
  try {
    write(path);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    // The directory is writable but unsafe to use.
    if (code === undefined) throw new UsageError(`croft runner: ${message}`);
    throw new UsageError(
      `croft runner: ${what} (${path}) cannot be written by uid ${process.getuid?.()}: change its owner, or choose another directory; ` +
        'in a container, mount a volume (--volume) or use --tmpfs /tmp',
    );
  }
}

function writeTo(path: string): void {
  mkdirSync(path, { recursive: true });
  rmdirSync(mkdtempSync(join(path, '.croft-')));
}
