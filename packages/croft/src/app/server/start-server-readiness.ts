import type { Records } from '../../core/accounts/ports/records.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { type Dependency, type ReadinessProbe, startReadiness } from '../../core/events/readiness.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { once } from '../../lib/concurrency/once.ts';
import { probeDisk } from '../../lib/disk-space/probe-disk.ts';
import { type OperatorBucket, openWorkspaceBucket } from '../../storages/index.ts';

interface ServerReadinessOptions {
  readonly data: string;
  readonly records: Records;
  /** With less free space than this on the disk of the data directory, the server is not ready. */
  readonly minFreeBytes: number;
  /** The operator's bucket. Without it, no bucket is checked. */
  readonly managed?: OperatorBucket | undefined;
  readonly emit: Emit;
  /** Writes a line to the server's log. */
  onWarning(message: string): void;
}

/**
 * Checks whether a server can work: its records, its disk and the operator's bucket. Buckets of accounts do not count,
 * because no account may make the server unready for the others.
 */
export function startServerReadiness(options: ServerReadinessOptions): ReadinessProbe {
  const { data, records, minFreeBytes, managed, emit, onWarning } = options;
  const bucket = managed && createBucketDependency(managed);
  const readiness = startReadiness({
    dependencies: [
      // A change, because a read-only database is not enough: every call is recorded.
      { name: 'records', check: () => records.change(async ({ accounts }) => void (await accounts.get('none'))) },
      { name: 'disk', check: () => probeDisk(data, minFreeBytes) },
      ...(bucket ? [bucket] : []),
    ],
    onBegan({ dependency, reason }) {
      onWarning(`not ready: ${dependency}: ${reason}`);
      emit('lifecycle.server.outage', () => ({ dependency, state: 'began', reason }));
    },
    onEnded({ dependency, reason }, durationMs) {
      onWarning(`ready again: ${dependency} works, after ${(durationMs / 1000).toFixed(1)} s`);
      emit('lifecycle.server.outage', () => ({ dependency, state: 'ended', reason, duration_ms: durationMs }));
    },
  });
  return {
    probe: readiness.probe,
    [Symbol.dispose]() {
      readiness[Symbol.dispose]();
      bucket?.close();
    },
  };
}

/** Lists an empty prefix: the cheapest request to a bucket, and one that Croft must be allowed anyway. */
function createBucketDependency(managed: OperatorBucket): Dependency & { close(): void } {
  let opened: ObjectStore | undefined;
  const open = once(async () => {
    const options = { managed, allowPrivate: true, readSecret: async () => undefined };
    opened = await openWorkspaceBucket({ provider: 's3', auth: { type: 'managed' } }, options);
    return opened;
  });
  return {
    name: 'bucket',
    async check(signal) {
      const objects = await open();
      for await (const _ of objects.list('.croft/ready/', { signal })) break;
      return undefined;
    },
    close: () => opened?.close(),
  };
}
