import { type FunctionTool, tool } from '@openai/agents';
import type { Box } from '../../box/box.ts';
import type { ToolInput } from '../../box/tool-caller.ts';
import { toModelAnswer } from '../model-answer.ts';
import { createModelTools, type ModelTool, type ModelToolsOptions } from '../model-tools.ts';

export type OpenAiTool = FunctionTool<unknown, ToolParameters>;

/** The tools of the agent of a box, for `new Agent({ tools })` of the OpenAI Agents SDK. */
export async function openaiTools(box: Box, options?: ModelToolsOptions): Promise<OpenAiTool[]> {
  return (await createModelTools(box, options)).map(toFunctionTool);
}

function toFunctionTool({ name, description, inputSchema, mustAsk, run }: ModelTool): OpenAiTool {
  return tool({
    name,
    description,
    // The server checks the input, and says what is wrong with it in words for a model.
    parameters: toParameters(inputSchema),
    strict: false,
    needsApproval: async (_, input, callId) => (await mustAsk?.(input as ToolInput, callId ?? '')) ?? false,
    async execute(input, _, details) {
      const call = { callId: details?.toolCall?.callId ?? '', signal: details?.signal };
      return toOutput(await run(input as ToolInput, call));
    },
    errorFunction: (_, error) => (error instanceof Error ? error.message : String(error)),
  });
}

interface ToolParameters {
  type: 'object';
  // biome-ignore lint/suspicious/noExplicitAny: a JSON schema of the server, which the framework hands to the model.
  properties: Record<string, any>;
  required: string[];
  additionalProperties: true;
}

/** In the form of schemas that are not strict. */
function toParameters({ properties, required }: Partial<ToolParameters>): ToolParameters {
  return { type: 'object', properties: properties ?? {}, required: required ?? [], additionalProperties: true };
}

/** Shows the model an image as an image, and everything else as JSON. */
function toOutput(answer: unknown): unknown {
  const { text, image } = toModelAnswer(answer);
  if (!image) return text;
  return [
    { type: 'text', text },
    { type: 'image', image: { data: image.data, mediaType: image.mimeType } },
  ];
}
