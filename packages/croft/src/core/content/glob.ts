import { AppError } from '@croft/protocol';
import { compileGlob } from '../../lib/text/glob.ts';

/** A test for paths from the pattern a caller gave as `argument`. Throws `E_BAD_PATTERN`. */
export function toGlob(pattern: string, argument: string): (path: string) => boolean {
  try {
    return compileGlob(pattern);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new AppError('E_BAD_PATTERN', `bad ${argument}: ${cause.message}`, {
      details: { [argument]: pattern },
      cause,
    });
  }
}
