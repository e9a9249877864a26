import { isLive } from '../../core/accounts/keys/key-rows.ts';
import type { RestPlatform } from '../platform/rest-platform.ts';

/**
 * Whether a key and its account are still active. For file links and event streams, which outlive the request that made
 * them.
 */
export async function isKeyActive(
  { records, now = Date.now }: RestPlatform,
  accountId: string,
  keyId: string,
): Promise<boolean> {
  const [account, key] = await records.read(async ({ accounts, keys }) => [
    await accounts.get(accountId),
    await keys.get(accountId, keyId),
  ]);
  return account?.status === 'active' && key !== undefined && isLive(key, new Date(now()));
}
