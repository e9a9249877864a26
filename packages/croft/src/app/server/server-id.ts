import { join } from 'node:path';
import { readFileIfPresent, replacePrivateFile } from '../../lib/files/private-file.ts';

/**
 * The id of the server that owns this data directory. It is made once, so that the server recognises its own calls
 * after a crash.
 */
export function readServerId(data: string): string {
  const file = join(data, 'server-id');
  const known = readFileIfPresent(file)?.trim();
  if (known) return known;
  replacePrivateFile(file, `srv_${crypto.randomUUID()}\n`, 'if-absent');
  return readFileIfPresent(file)?.trim() ?? '';
}
