import { AppError } from '@croft/protocol';
import type { LanguageServerDefinition } from '../core/code/ports/language-server-definition.ts';

/** The connection or the process ended before the answer. The same question may be asked on a new process. */
export class ServerGoneError extends Error {}

/** The server took longer than a request may. */
export class RequestTimeoutError extends Error {}

/** The server answered with an error. */
export class ResponseError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function codeServerError({ name }: Pick<LanguageServerDefinition, 'name'>, words: string): AppError {
  return new AppError('E_CODE_SERVER', `the language server ${name} ${words}`, { details: { server: name } });
}

export function noServerError({ name }: Pick<LanguageServerDefinition, 'name'>, words: string): AppError {
  return new AppError('E_NO_SERVER', `the language server ${name} ${words}`, { details: { server: name } });
}

/** A sandbox that cannot be opened means that there is no server here. */
export function toOpenError(definition: LanguageServerDefinition, thrown: unknown): unknown {
  const { code, message } = AppError.from(thrown);
  return code === 'E_SANDBOX_UNAVAILABLE' ? noServerError(definition, `has no sandbox to run in: ${message}`) : thrown;
}
