import { toModelAnswer } from '../model-answer.ts';

type Json = null | string | number | boolean | Json[] | { [name: string]: Json };

export type AiModelOutput =
  | { type: 'json'; value: Json }
  | {
      type: 'content';
      value: ({ type: 'text'; text: string } | { type: 'file-data'; data: string; mediaType: string })[];
    };

/** Shows the model an image as an image, and everything else as JSON. */
export function toAiModelOutput({ output }: { readonly output: unknown }): AiModelOutput {
  const { text, image } = toModelAnswer(output);
  if (!image) return { type: 'json', value: output as Json };
  return {
    type: 'content',
    value: [
      { type: 'text', text },
      { type: 'file-data', data: image.data, mediaType: image.mimeType },
    ],
  };
}
