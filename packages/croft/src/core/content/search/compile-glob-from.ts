import { AppError } from '@croft/protocol';
import { compileGlob } from '../../../lib/text/patterns/glob.ts';

/** Compiles the pattern that a caller gave as `argument`. Throws `E_BAD_PATTERN`. */
function compileGlobArgument(pattern: string, argument: string): (path: string) => boolean {
  const isMatch = withPatternErrors(() => compileGlob(pattern));
  return (path) => withPatternErrors(() => isMatch(path));

  function withPatternErrors<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause;
      throw new AppError('E_BAD_PATTERN', `bad ${argument}: ${cause.message}`, {
        details: { [argument]: pattern },
        cause,
      });
    }
  }
}

export interface GlobBase {
  /** The workspace path, as callers may write it before a pattern. */
  readonly root: string;
  /** The directory that is searched, from the root. */
  readonly scope: string;
}

/** Compiles a pattern for paths from the root. The pattern may be relative to the root or to the searched directory. */
export function compileGlobFrom(
  { root, scope }: GlobBase,
  pattern: string,
  argument: string,
): (path: string) => boolean {
  const below = `${root}/`;
  const isMatch = compileGlobArgument(pattern.startsWith(below) ? pattern.slice(below.length) : pattern, argument);
  if (scope === '') return isMatch;
  const fromScope = (path: string) => isMatch(path.slice(scope.length + 1));
  // A negated pattern excludes a path in either meaning.
  if (pattern.startsWith('!')) return (path) => fromScope(path) && isMatch(path);
  return (path) => fromScope(path) || isMatch(path);
}
