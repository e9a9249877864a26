import { AppError } from '@croft/protocol';
import type { Expectation } from './registry.ts';

export function notFound(title: string): AppError {
  return new AppError('E_NOT_FOUND', `${title} not found`);
}

export function alreadyExists(title: string, name: string, id: string): AppError {
  return new AppError('E_ALREADY_EXISTS', `${title} name already exists: ${name}`, { details: { id } });
}

export function overQuota(what: string, max: number): AppError {
  return new AppError('E_QUOTA', `this account has ${max} ${what}, which is as many as it may`, {
    details: { what, max },
  });
}

export function stale(title: string): AppError {
  return new AppError('E_PRECONDITION_FAILED', `${title} was changed by somebody else meanwhile`);
}

export function mustFitVersion(title: string, version: number, expect: Expectation): void {
  if (expect.version === undefined || expect.version === version) return;
  throw new AppError(
    'E_PRECONDITION_FAILED',
    `${title} is at version ${version}, and the change is for version ${expect.version}`,
    { details: { version } },
  );
}
