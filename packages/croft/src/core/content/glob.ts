import { AppError } from '@croft/protocol';
import { compileGlob } from '../../lib/text/glob.ts';

/** A test for paths from the pattern a caller gave as `argument`. Throws `E_BAD_PATTERN`. */
function toGlob(pattern: string, argument: string): (path: string) => boolean {
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

export interface GlobPlace {
  /** As callers may write it in front of a pattern. */
  readonly root: string;
  /** The directory that is searched, from the root. */
  readonly scope: string;
}

/** The same for paths from the root: a pattern may be meant from there, or from the directory that is searched. */
export function toGlobIn({ root, scope }: GlobPlace, pattern: string, argument: string): (path: string) => boolean {
  const below = `${root}/`;
  const isMatch = toGlob(pattern.startsWith(below) ? pattern.slice(below.length) : pattern, argument);
  if (scope === '') return isMatch;
  const fromScope = (path: string) => isMatch(path.slice(scope.length + 1));
  // What a pattern leaves out, it leaves out in either meaning.
  if (pattern.startsWith('!')) return (path) => fromScope(path) && isMatch(path);
  return (path) => fromScope(path) || isMatch(path);
}
