import { CroftError } from '../errors/croft-error.ts';

export interface Replacement {
  readonly find: string;
  readonly replace: string;
  /** Every occurrence. Without it, a text that occurs twice is refused. */
  readonly all: boolean;
}

export function replaceText(path: string, text: string, { find, replace, all }: Replacement) {
  const count = find === '' ? 0 : text.split(find).length - 1;
  if (count === 0)
    throw new CroftError('E_NO_MATCH', `${path} does not have the text to replace`, {
      hint: 'Read the file and copy `find` from it exactly, white space included.',
    });
  if (count > 1 && !all)
    throw new CroftError('E_MANY_MATCHES', `${path} has the text ${count} times`, {
      hint: 'Add surrounding text to `find`, or pass `all: true`.',
    });
  return { text: text.replaceAll(find, () => replace), count };
}
