import type { z } from 'zod';
import type { CodeQuestions, DiagnosticsQuestion, ReferencesQuestion } from '../../core/code/ports/code-questions.ts';
import type { ServerMode, ServerUse } from '../../core/code/ports/language-servers.ts';
import * as methods from '../../link/methods/code.ts';
import type { LinkMethod } from '../../link/methods/define-method.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';

/** No server of a runner runs for longer without a question. */
const maxIdleMs = 30 * 60_000;

/** Asks the runner, which has the files and the language servers. Each question is one call. */
export function createRemoteCode(rpc: RpcClient, handle: string): (mode: ServerMode) => CodeQuestions {
  let lastAskedAt = Number.NEGATIVE_INFINITY;
  return (mode) => {
    const ask =
      <Question, Sent extends z.ZodType>(method: LinkMethod & { readonly sent: Sent }) =>
      (question: Question, { signal, onActivity }: ServerUse): Promise<z.output<Sent>> => {
        lastAskedAt = performance.now();
        const call = rpc.begin(method, { place: handle, mode, question }, { signal, deadlineMs: rpc.patienceMs });
        call.listen(methods.CodeActivity, ({ activity }) => onActivity?.(() => activity));
        return call.withJson(methods.codeChannel, methods.maxAnswerBytes, method.sent);
      };
    const references = ask<ReferencesQuestion, typeof methods.findReferences.sent>(methods.findReferences);
    const diagnostics = ask<DiagnosticsQuestion, typeof methods.readDiagnostics.sent>(methods.readDiagnostics);
    return {
      definitions: ask(methods.findDefinitions),
      async references(question, use) {
        const page = await references(question, use);
        if (page.items.length <= question.limit) return page;
        throw invalidAnswer(methods.findReferences.name, `more than the ${question.limit} places that were asked for`);
      },
      hover: ask(methods.describeSymbol),
      calls: ask(methods.findCalls),
      async diagnostics(question, use) {
        // Every edit asks so. Over a link on which nobody has asked anything, no server runs.
        const isIdle = performance.now() - lastAskedAt > maxIdleMs;
        if (question.onlyRunning && isIdle) return { path: question.path, isAsked: false };
        return diagnostics(question, use);
      },
      rename: ask(methods.renameSymbol),
      move: ask(methods.updateImports),
      actions: ask(methods.proposeActions),
    };
  };
}
