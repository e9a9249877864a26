import type { CodeQuestions } from '../ports/code-questions.ts';
import type { CodeContext, QuestionedWorkspace } from '../servers/code-context.ts';
import { askActions } from './ask-actions.ts';
import { askMove } from './ask-move.ts';
import { askRename } from './ask-rename.ts';
import { describeSymbol } from './describe-symbol.ts';
import { findCalls } from './find-calls.ts';
import { findDefinitions } from './find-definitions.ts';
import { findReferences } from './find-references.ts';
import { readDiagnostics } from './read-diagnostics.ts';

/** Answers questions about a workspace whose files are on this machine. */
export function createCodeQuestions(workspace: QuestionedWorkspace): CodeQuestions {
  const on =
    <Question, Answer>(answer: (question: Question, context: CodeContext) => Promise<Answer>) =>
    (question: Question, { signal, onActivity }: Omit<CodeContext, 'workspace'>) =>
      answer(question, { workspace, signal, onActivity });
  return {
    definitions: on(findDefinitions),
    references: on(findReferences),
    hover: on(describeSymbol),
    calls: on(findCalls),
    diagnostics: on(readDiagnostics),
    rename: on(askRename),
    move: on(askMove),
    actions: on(askActions),
  };
}
