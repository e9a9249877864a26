import { isLive } from '../../core/accounts/key-rows.ts';
import type { Platform } from '../platform.ts';

/** Whether a key and its account are still good: for what lives longer than the request it came with. */
export async function isKeyGood(
  { records, now = Date.now }: Platform,
  accountId: string,
  keyId: string,
): Promise<boolean> {
  const [account, key] = await records.read(async ({ accounts, keys }) => [
    await accounts.get(accountId),
    await keys.get(accountId, keyId),
  ]);
  return account?.status === 'active' && key !== undefined && isLive(key, new Date(now()));
}
