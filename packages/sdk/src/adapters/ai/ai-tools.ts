import type { Box, ToolAnswer } from '../../box/box.ts';
import type { ToolInput } from '../../box/tool-caller.ts';
import { createModelTools, type ModelTool, type ModelToolsOptions } from '../model-tools.ts';
import { type AiModelOutput, toAiModelOutput } from './ai-model-output.ts';
import { type AiSchema, toAiSchema } from './ai-schema.ts';

interface AiCall {
  readonly toolCallId: string;
}

/** A tool as `generateText` of AI SDK 6 and 7 takes it. Its input and output are known when it runs. */
export interface AiTool {
  readonly type: 'dynamic';
  readonly title: string;
  readonly description: string;
  readonly inputSchema: AiSchema;
  /** For AI SDK 6, which has no `toolApproval`. */
  readonly needsApproval?: (input: unknown, call: AiCall) => Promise<boolean>;
  readonly execute: (
    input: unknown,
    call: AiCall & { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<ToolAnswer>;
  readonly toModelOutput: (call: { readonly output: unknown }) => AiModelOutput;
}

type AskCaller = (input: unknown, call: AiCall) => Promise<'user-approval' | undefined>;

export interface AiTools {
  readonly tools: Record<string, AiTool>;
  /** For AI SDK 7. Empty where the approval inbox asks. */
  readonly toolApproval: Record<string, AskCaller>;
  /** Text for the system prompt of the model, about its workspace. */
  readonly instructions: string;
}

/** The tools of the agent of a box, for `generateText`, `streamText` and `ToolLoopAgent`. */
export async function aiTools(box: Box, options?: ModelToolsOptions): Promise<AiTools> {
  const [tools, instructions] = await Promise.all([createModelTools(box, options), box.agent.prompt()]);
  return {
    tools: Object.fromEntries(tools.map((tool) => [tool.name, toAiTool(tool)])),
    toolApproval: Object.fromEntries(
      tools.flatMap(({ name, mustAsk }) => {
        if (!mustAsk) return [];
        const ask: AskCaller = async (input, { toolCallId }) =>
          (await mustAsk(input as ToolInput, toolCallId)) ? 'user-approval' : undefined;
        return [[name, ask]];
      }),
    ),
    instructions,
  };
}

function toAiTool({ title, description, inputSchema, mustAsk, run }: ModelTool): AiTool {
  return {
    ...{ type: 'dynamic', title, description, inputSchema: toAiSchema(inputSchema) },
    ...(mustAsk && { needsApproval: (input, { toolCallId }) => mustAsk(input as ToolInput, toolCallId) }),
    execute: (input, { toolCallId, abortSignal }) =>
      run(input as ToolInput, { callId: toolCallId, signal: abortSignal }),
    toModelOutput: toAiModelOutput,
  };
}
