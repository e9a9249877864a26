import { createBubblewrap } from './bubblewrap/provider.ts';
import { createDocker } from './docker/provider.ts';
import { createNone } from './none.ts';

export { createLinkObjects } from './remote/objects.ts';
export { removeRemoteWorkspace } from './remote/removal.ts';
export { createRemoteWorkspace, type RemoteOptions } from './remote/workspace.ts';
export { createSearchBoxes } from './search-box/provider.ts';
export { withCaches } from './with-caches.ts';
export { createBubblewrap };

/** By the names that an operator asks for them by. */
export const providers = { bubblewrap: createBubblewrap, docker: createDocker, none: createNone };
export type ProviderName = keyof typeof providers;
