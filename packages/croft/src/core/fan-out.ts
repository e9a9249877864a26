import { AppError, ErrorBody } from '@croft/protocol';
import { z } from 'zod';
import type { ToolResult } from './tool.ts';
import type { Workspace } from './workspace.ts';

/** What a tool answers when it was asked of every workspace: one labelled result each. */
export function fanOutOutput(output: z.ZodObject) {
  return z.object({
    results: z.array(
      z.union([output.extend({ workspace: z.string() }), z.object({ workspace: z.string(), error: ErrorBody })]),
    ),
  });
}

/**
 * Runs in every workspace at once. One that fails says so under its name; the others still answer. `onFailure` is told of
 * each failure but the one that is thrown.
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
    denials: answers.flatMap(({ denials }) => denials),
  };
}

function label(workspace: string, answer: ToolResult | AppError) {
  if (AppError.is(answer)) {
    return {
      text: `=== ${workspace} ===\nerror: ${answer.text}\n`,
      structured: { workspace, error: answer.toJSON() },
      error: answer,
      denials: [],
    };
  }
  return {
    text: `=== ${workspace} ===\n${answer.text}`,
    structured: { workspace, ...answer.structured },
    error: undefined,
    denials: answer.denials ?? [],
  };
}
