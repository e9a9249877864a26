import type { z } from 'zod';
import type { CodeQuestions } from '../../core/code/ports/code-questions.ts';
import type { ServerMode, ServerUse } from '../../core/code/ports/language-servers.ts';
import * as methods from '../../link/methods/code.ts';
import type { LinkMethod } from '../../link/methods/define-method.ts';
import type { RpcClient } from './rpc/rpc-client.ts';
import { invalidAnswer } from './rpc/runner-errors.ts';

/** Asks the runner, which has the files and the language servers. Each question is one call. */
export function createRemoteCode(rpc: RpcClient, place: string): (mode: ServerMode) => CodeQuestions {
  return (mode) => {
    const ask =
      <Question, Sent extends z.ZodType>(method: LinkMethod & { readonly sent: Sent }) =>
      (question: Question, { signal, onActivity }: ServerUse): Promise<z.output<Sent>> => {
        const call = rpc.begin(method, { place, mode, question }, { signal, deadlineMs: rpc.patienceMs });
        call.listen(methods.CodeActivity, ({ activity }) => onActivity?.(() => activity));
        return call.withJson(methods.codeChannel, methods.maxAnswerBytes, method.sent);
      };
    const references = ask<Parameters<CodeQuestions['references']>[0], typeof methods.findReferences.sent>(
      methods.findReferences,
    );
    return {
      definitions: ask(methods.findDefinitions),
      async references(question, use) {
        const page = await references(question, use);
        if (page.items.length <= question.limit) return page;
        throw invalidAnswer(methods.findReferences.name, `more than the ${question.limit} places that were asked for`);
      },
      hover: ask(methods.describeSymbol),
      calls: ask(methods.findCalls),
      diagnostics: ask(methods.readDiagnostics),
      rename: ask(methods.renameSymbol),
      move: ask(methods.updateImports),
      actions: ask(methods.proposeActions),
    };
  };
}
