import { AppError } from '@croft/protocol';
import type { Workspace } from '../../workspace/workspace.ts';
import type { Syntax } from '../syntax.ts';

/** Throws `E_INVALID_INPUT` for a workspace that was opened without a parser. */
export function mustHaveSyntax({ syntax, name }: Pick<Workspace, 'syntax' | 'name'>): Syntax {
  if (syntax) return syntax;
  throw new AppError('E_INVALID_INPUT', `code tools are not available in the workspace ${name}`, {
    hint: 'Use grep, read and edit.',
  });
}
