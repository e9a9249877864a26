import { Croft } from '@croft/sdk';
import { startPlatform } from '../packages/croft/test/support/servers/platform.ts';

/** A real server with accounts, and a program that has a key of one. */
export async function startCroft() {
  const platform = await startPlatform();
  let boxes = 0;
  const newKey = async () => (await platform.newAccount()).secret;
  const croft = new Croft({ server: platform.url, key: await newKey() });
  return {
    croft,
    /** A box with a workspace of its own. */
    open: (options?: Parameters<Croft['open']>[1]) => croft.open(`box ${++boxes}`, options),
    /** Waits for a person to be asked, and decides. Resolves with the tool. */
    async decide(decision: 'approve' | 'deny', reason?: string): Promise<string> {
      const stop = new AbortController();
      for await (const { type, approval } of croft.approvals.watch({ signal: stop.signal })) {
        if (type !== 'pending') continue;
        await croft.approvals[decision](approval.approvalId, { reason });
        stop.abort();
        return approval.tool;
      }
      throw new Error('nobody was asked');
    },
    [Symbol.asyncDispose]: () => platform[Symbol.asyncDispose](),
  };
}

export type TestCroft = Awaited<ReturnType<typeof startCroft>>;
