import { createBubblewrap } from './bubblewrap/provider.ts';
import { createDocker } from './docker/provider.ts';
import { createNone } from './none.ts';

export { removeRemoteWorkspace } from './remote/remove-workspace.ts';
export { createServerBucket } from './remote/server-bucket/server-bucket.ts';
export { createRemoteWorkspace, type RemoteOptions } from './remote/workspace.ts';
export { createSearchBoxes } from './search-box/provider.ts';
export { withCaches } from './with-caches.ts';
export { createBubblewrap };

/** The names by which an operator chooses a provider. */
export const providers = { bubblewrap: createBubblewrap, docker: createDocker, none: createNone };
export type ProviderName = keyof typeof providers;
