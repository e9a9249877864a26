import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/**
 * The directory of this package, `packages/croft` in a clone. The same for the sources and for their bundle in `dist`.
 */
export const packageDirectory = dirname(findPackageJSON(import.meta.url) as string);
