import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { ToolResult } from '../tools/tool.ts';
import type { Workspace } from '../workspace/workspace.ts';

/**
 * Output schema of a call to all workspaces: one labelled result per workspace. Short, because the listing of every
 * such tool has it beside the schema of a result.
 */
export const fanOutOutput = z.object({
  results: z
    .array(z.looseObject({ workspace: z.string() }))
    .describe('With workspace "all": the same for each workspace, or its error'),
});

/**
 * Runs a call in every workspace at the same time. A workspace that fails has an error under its name; the others still
 * answer. If all fail, the first error is thrown. `onFailure` is called for every failure except a thrown one.
 */
export async function fanOut(
  workspaces: readonly Workspace[],
  runIn: (workspace: Workspace) => Promise<ToolResult>,
  onFailure: (workspace: string, error: AppError) => void,
): Promise<ToolResult> {
  const answers = await Promise.all(
    workspaces.map(async (workspace) => {
      const answer = await runIn(workspace).catch((thrown) => AppError.from(thrown));
      return label(workspace.name, answer);
    }),
  );
  const thrown = answers.every(({ error }) => error) ? answers[0]?.error : undefined;
  for (const { error, structured } of answers) if (error && error !== thrown) onFailure(structured.workspace, error);
  if (thrown) throw thrown;
  return {
    text: answers.map(({ text }) => text).join('\n'),
    structured: { results: answers.map(({ structured }) => structured) },
  };
}

function label(workspace: string, answer: ToolResult | AppError) {
  if (AppError.is(answer)) {
    return {
      text: `=== ${workspace} ===\nerror: ${answer.text}\n`,
      structured: { workspace, error: answer.toJSON() },
      error: answer,
    };
  }
  return {
    text: `=== ${workspace} ===\n${answer.text}`,
    structured: { workspace, ...answer.structured },
    error: undefined,
  };
}
