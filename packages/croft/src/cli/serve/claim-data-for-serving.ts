import { hostname } from 'node:os';
import { claimDataDirectory, type DataOwner } from '../../app/server/claim-data-directory.ts';
import { UsageError } from '../../lib/usage-error.ts';

/**
 * Locks the data directory for this server, because each of two servers would cache data that the other one changes.
 * Throws an error that names the process with the lock.
 */
export function claimDataForServing(data: string, onWarning: (message: string) => void) {
  const claim = claimDataDirectory(data, new Date());
  if (claim.kind === 'ours') return claim;
  if (claim.kind === 'taken') throw new UsageError(describeTaken(data, claim.owner));
  onWarning(`the data directory ${data} cannot be locked here: see to it that no second server uses it`);
  return { tellAddress: () => {}, [Symbol.dispose]: () => {} };
}

function describeTaken(data: string, owner: DataOwner | undefined): string {
  const advice = 'stop that server, or choose another directory with --data DIR or CROFT_DATA';
  if (!owner) return `the data directory ${data} is served by another process: ${advice}`;
  const { pid, host, since, address } = owner;
  const where = host === hostname() ? '' : ` on ${host}`;
  const at = address === undefined ? '' : ` at ${address}`;
  return `the data directory ${data} is served by process ${pid}${where} since ${since}${at}: ${advice}`;
}
