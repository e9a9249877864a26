import { AppError } from '@croft/protocol';
import type { z } from 'zod';
import type { CodeIndex } from '../core/code/ports/code-index.ts';
import type { CodeQuestions } from '../core/code/ports/code-questions.ts';
import type { ServerUse } from '../core/code/ports/language-servers.ts';
import { cutText } from '../lib/text/cut-text.ts';
import { sendPieces, toPieces } from '../link/calls/bounded-streams.ts';
import type { ServedCall } from '../link/calls/peer.ts';
import * as methods from '../link/methods/code.ts';
import { mapIndex, searchIndex } from '../link/methods/code-index.ts';
import type { LinkMethod } from '../link/methods/define-method.ts';
import { type LinkHandlers, type ServedWorkspaces, serveMethod } from './serve-helpers.ts';

const activityEveryMs = 1000;
const maxActivity = 300;

type CodeParams = z.ZodType<{ place: string; mode: 'safe' | 'full'; question: unknown }>;
type Ask<Params extends CodeParams> = (
  code: CodeQuestions,
  question: z.output<Params>['question'],
  use: ServerUse,
) => Promise<unknown>;

/**
 * Serves questions about code: the language servers, and the check that their answers are fresh, are on this machine.
 */
export function serveCode(workspaces: ServedWorkspaces): LinkHandlers {
  const serve = <Params extends CodeParams>(method: LinkMethod<Params, z.ZodNull>, ask: Ask<Params>) =>
    serveMethod(method, async ({ place: handle, mode, question }, call) => {
      const { code } = workspaces.get(handle);
      if (!code) throw new AppError('E_NOT_FOUND', 'this runner answers no questions about code');
      using reporting = reportActivity(call);
      return answerWithin(call, await ask(code(mode), question, { signal: call.signal, ...reporting }));
    });
  return {
    ...serve(methods.findDefinitions, (code, question, use) => code.definitions(question, use)),
    ...serve(methods.findReferences, (code, question, use) => code.references(question, use)),
    ...serve(methods.describeSymbol, (code, question, use) => code.hover(question, use)),
    ...serve(methods.findCalls, (code, question, use) => code.calls(question, use)),
    ...serve(methods.readDiagnostics, (code, question, use) => code.diagnostics(question, use)),
    ...serve(methods.renameSymbol, (code, question, use) => code.rename(question, use)),
    ...serve(methods.updateImports, (code, question, use) => code.move(question, use)),
    ...serve(methods.proposeActions, (code, question, use) => code.actions(question, use)),
  };
}

/** Serves the index, which is on this machine as well. */
export function serveCodeIndex(workspaces: ServedWorkspaces): LinkHandlers {
  const indexOf = (place: string): CodeIndex => {
    const { codeIndex } = workspaces.get(place);
    if (codeIndex) return codeIndex;
    throw new AppError('E_NOT_FOUND', 'this runner has no index of the code of this workspace', {
      hint: 'Ask only a runner whose answer to opening the workspace has codeIndex: true. Without an index, search the files.',
    });
  };
  return {
    ...serveMethod(searchIndex, async ({ place, question }, call) =>
      answerWithin(call, (await indexOf(place).search(question, call.signal)) ?? null),
    ),
    ...serveMethod(mapIndex, async ({ place, question }, call) =>
      answerWithin(call, (await indexOf(place).map(question, call.signal)) ?? null),
    ),
  };
}

async function answerWithin(call: ServedCall, answer: unknown): Promise<null> {
  const bytes = Buffer.from(JSON.stringify(answer));
  const { maxAnswerBytes: max } = methods;
  if (bytes.length > max)
    throw new AppError('E_TOO_LARGE', `the answer about this code is over ${max} bytes`, { details: { max } });
  await sendPieces(call.writable(methods.codeChannel), toPieces(bytes), call);
  return null;
}

/** Reports to the server once a second what the question waits for, until the call is answered. */
function reportActivity(call: ServedCall): Pick<ServerUse, 'onActivity'> & Disposable {
  let [current, sent]: [(() => string) | undefined, string] = [undefined, ''];
  const tell = () => {
    const activity = cutText(current?.() ?? '', maxActivity);
    if (activity === sent) return;
    sent = activity;
    call.sendMessage({ activity });
  };
  const timer = setInterval(tell, activityEveryMs).unref();
  return {
    onActivity(activity) {
      current = activity;
      tell();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
