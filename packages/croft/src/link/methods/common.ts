import { posix } from 'node:path';
import { z } from 'zod';

/**
 * A thing that one side of a link asks of the other. Both halves parse with the same schemas, because each takes the
 * other for hostile.
 */
export interface Method<Params extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly params: Params;
  readonly answer: Answer;
}

export function method<Params extends z.ZodType, Answer extends z.ZodType>(
  name: string,
  params: Params,
  answer: Answer,
): Method<Params, Answer> {
  return { name, params, answer };
}

export const maxPathLength = 4096;
/** Real paths are longer than what a caller may write, where links are on the way. */
const maxRealPathLength = 32 * 1024;
const maxNameLength = 255;

/** Of something that the other side keeps for this link alone. */
export const Id = z.string().min(1).max(100);
/** As a caller wrote it: what it leads to is judged where the files are. */
export const PathText = z.string().max(maxPathLength);
export const Bytes = z.int().nonnegative();
export const Nothing = z.object({});
/** Of a program, a session, a call: what a person recognises it by. */
export const Label = z.string().max(4096);
export const Time = z.string().max(40);

/** From the root and below it, every link resolved. The root itself is empty. */
export const InsidePath = z.string().max(maxRealPathLength).refine(isInside, 'is not a path inside the workspace');

/** How a workspace is called by those who work in it. */
export const RootPath = z.string().max(1024).refine(isRoot, 'is not a plain absolute path');

export const FileName = z.string().max(maxNameLength).refine(isName, 'is not the name of a file');

function isInside(path: string): boolean {
  return path === '' || path.split('/').every(isName);
}

function isName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

/** It is shown to people and to models: nothing in it may pass for anything else. */
function isRoot(path: string): boolean {
  return /^\/[^/]/.test(path) && !/\p{C}/u.test(path) && !path.endsWith('/') && posix.normalize(path) === path;
}
