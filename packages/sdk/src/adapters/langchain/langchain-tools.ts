import { type StructuredToolInterface, tool } from '@langchain/core/tools';
import type { Box } from '../../box/box.ts';
import type { ToolInput } from '../../box/tool-caller.ts';
import { toModelAnswer } from '../model-answer.ts';
import { createModelTools, type ModelToolsOptions } from '../model-tools.ts';

/**
 * The tools of the agent of a box, for `createAgent({ tools })` of LangChain. A call that needs a person waits for the
 * approval inbox.
 */
export async function langchainTools(
  box: Box,
  options?: Pick<ModelToolsOptions, 'only'>,
): Promise<StructuredToolInterface[]> {
  const tools = await createModelTools(box, options);
  return tools.map(({ name, description, inputSchema: schema, run }) =>
    tool(
      async (input: unknown, { signal, toolCall }: { signal?: AbortSignal; toolCall?: { id?: string } }) =>
        toContent(await run(input as ToolInput, { callId: toolCall?.id ?? '', signal })),
      { name, description, schema },
    ),
  );
}

/** Shows the model an image as an image, and everything else as JSON. */
function toContent(answer: unknown): string | object[] {
  const { text, image } = toModelAnswer(answer);
  if (!image) return text;
  return [
    { type: 'text', text },
    { type: 'image', mimeType: image.mimeType, data: image.data },
  ];
}
