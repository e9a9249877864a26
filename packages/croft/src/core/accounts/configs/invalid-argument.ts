import { AppError } from '@croft/protocol';

const maxArgument = 200;
const maxMessage = 1000;

/** Cuts both texts, because they may contain a key that a caller made up. */
export function invalidArgument(message: string, argument: string): AppError {
  const details = { arguments: [argument.slice(0, maxArgument)] };
  return new AppError('E_INVALID_INPUT', message.slice(0, maxMessage), { details });
}
