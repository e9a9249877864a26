import { posix } from 'node:path';
import { z } from 'zod';

/**
 * A method that one side of a link calls on the other. Both sides parse with the same schemas, because each treats the
 * other as hostile.
 */
export interface LinkMethod<Params extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly params: Params;
  readonly answer: Answer;
}

export function defineMethod<Params extends z.ZodType, Answer extends z.ZodType>(
  name: string,
  params: Params,
  answer: Answer,
): LinkMethod<Params, Answer> {
  return { name, params, answer };
}

export const maxPathLength = 4096;
/** A resolved path can be longer than any path a caller may write, where symbolic links lead on. */
const maxRealPathLength = 32 * 1024;
const maxNameLength = 255;

/**
 * The id of something that the other side has open for this link alone. `place` in params is the id of an opened
 * workspace.
 */
export const Id = z.string().min(1).max(100);
/** A path as a caller wrote it. The side that has the files checks where it leads. */
export const PathText = z.string().max(maxPathLength);
export const Bytes = z.int().nonnegative();
export const Nothing = z.object({});
/** Names of control files. The runner ignores those that it does not allow itself: see `runner-policy.ts`. */
export const AllowControl = z.array(z.string().max(100)).max(100).readonly().optional();
/** The name that a person recognises a program, a session or a call by. */
export const Label = z.string().max(4096);
export const Time = z.string().max(40);

/** A path relative to the workspace's root, with every symbolic link resolved. The root itself is the empty string. */
export const InsidePath = z.string().max(maxRealPathLength).refine(isInside, 'is not a path inside the workspace');

/** The absolute path of a workspace as its commands and models see it. */
export const RootPath = z.string().max(1024).refine(isPlainRootPath, 'is not a plain absolute path');

export const FileName = z.string().max(maxNameLength).refine(isName, 'is not the name of a file');

function isInside(path: string): boolean {
  return path === '' || path.split('/').every(isName);
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

/** The path is shown to people and models, so that control and invisible characters are refused. */
function isPlainRootPath(path: string): boolean {
  return /^\/[^/]/.test(path) && !/\p{C}/u.test(path) && !path.endsWith('/') && posix.normalize(path) === path;
}
