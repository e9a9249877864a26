import { AppError } from '@croft/protocol';
import type { Cluster } from '../../app/cluster/cluster.ts';
import { forwardRefusal } from './forward-refusal.ts';

/**
 * Throws while this server cannot reach its database. Other servers may have taken over its leases, and a caller should
 * not wait for a database that does not answer.
 */
export function mustBeConnected(cluster: Pick<Cluster, 'isCutOff'> | undefined): void {
  if (!cluster?.isCutOff()) return;
  throw forwardRefusal(
    new AppError('E_STORAGE_FAILED', 'this server cannot reach its database, and answers no calls until it does', {
      hint: 'Nothing was done. Try again in a moment.',
    }),
  );
}
