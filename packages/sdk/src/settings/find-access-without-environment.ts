import type { ServerAccess } from '../client/request.ts';
import { type AccessOptions, chooseAccess, toSource } from './choose-access.ts';

/** Where there are no files and no environment, a program passes the server and the key itself. */
export function findAccess(options: AccessOptions): Promise<ServerAccess> {
  return chooseAccess([toSource(options)]);
}
