import { AppError } from '@croft/protocol';
import { parseJson } from '../../lib/text/parse-json.ts';
import { ProtocolFault } from '../transport/frames.ts';
import { maxJsonBytes } from '../transport/link-limits.ts';

/** `what` names the value in the error, such as "the params of files.read". `undefined` becomes an empty payload. */
export function encodeJson(value: unknown, what: string): Buffer {
  const bytes = Buffer.from(JSON.stringify(value) ?? '');
  if (bytes.length <= maxJsonBytes) return bytes;
  throw new AppError(
    'E_TOO_LARGE',
    `${what} are ${bytes.length} bytes long, and a link takes ${maxJsonBytes} at once; send bodies through a channel`,
    { details: { bytes: bytes.length, maxBytes: maxJsonBytes } },
  );
}

export function decodeJson(payload: Buffer): unknown {
  if (payload.length === 0) return undefined;
  const value = parseJson(payload);
  if (value === undefined) throw new ProtocolFault('what is not JSON');
  return value;
}
