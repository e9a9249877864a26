import {
  DirectoryNotEmptyError,
  FileExistsError,
  FileNotFoundError,
  IsDirectoryError,
  NotDirectoryError,
} from '@mastra/core/workspace';
import { CroftError } from '../../errors/croft-error.ts';
import { toModelError } from '../model-tools.ts';

const classes: Readonly<Record<string, new (path: string) => Error>> = {
  E_ALREADY_EXISTS: FileExistsError,
  E_DIRECTORY_NOT_EMPTY: DirectoryNotEmptyError,
  E_FILE_NOT_FOUND: FileNotFoundError,
  E_NOT_A_DIRECTORY: NotDirectoryError,
  E_NOT_A_FILE: IsDirectoryError,
};

/** Converts an error to the class by which Mastra recognises the failure. */
export function toMastraError(thrown: unknown, path: string): unknown {
  const known = CroftError.is(thrown) ? classes[thrown.code] : undefined;
  return known ? new known(path) : toModelError(thrown);
}
