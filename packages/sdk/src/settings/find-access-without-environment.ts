import type { ServerAccess } from '../client/request.ts';
import { type AccessOptions, chooseAccess, toSource } from './choose-access.ts';

/** For systems without files and environment variables: the program passes server and key itself. */
export function findAccess(options: AccessOptions): Promise<ServerAccess> {
  return chooseAccess([toSource(options)]);
}
