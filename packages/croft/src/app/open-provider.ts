import type { AppOptions } from '../app.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import { providers, withCaches } from '../providers/index.ts';

/** What opens the sandboxes of a program, here as on a runner, with the caches of workspaces in them. */
export function openProvider(
  { sandbox, host, onWarning }: Pick<AppOptions, 'sandbox' | 'host' | 'onWarning'>,
  provider: Provider = providers[sandbox.provider]({ ...host, image: sandbox.image }),
): Provider {
  return sandbox.caches === undefined ? provider : withCaches(provider, { caches: sandbox.caches, onWarning });
}
