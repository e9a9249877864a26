import { z } from 'zod';

const WithImage = z.looseObject({ image: z.object({ data: z.string(), mimeType: z.string() }) });

export interface ModelAnswer {
  /** The answer of the tool as JSON. */
  readonly text: string;
  /** The image in base64. */
  readonly image?: { readonly data: string; readonly mimeType: string };
}

/** Takes an image out of the answer of a tool, because models see images only as images. */
export function toModelAnswer(answer: unknown): ModelAnswer {
  const found = WithImage.safeParse(answer);
  if (!found.success) return { text: JSON.stringify(answer) };
  const { image, ...rest } = found.data;
  return { text: JSON.stringify(rest), image };
}
