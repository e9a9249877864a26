export type DiagramLanguage = 'mermaid' | 'dot';

export const diagramFormats = ['svg', 'png', 'pdf'] as const;
export type DiagramFormat = (typeof diagramFormats)[number];

export interface DiagramRequest {
  readonly language: DiagramLanguage;
  readonly source: string;
  readonly format: DiagramFormat;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface RenderedDiagram {
  /** The diagram in the wanted format. */
  readonly bytes: Uint8Array;
  /** The same as a PNG image, for a model to look at. */
  readonly png: Uint8Array;
  /** Size of the PNG image in pixels. */
  readonly width: number;
  readonly height: number;
}

/**
 * Port to the renderer. Reads no file and no network: a diagram is made of its source alone. Throws `E_INVALID_INPUT`
 * for a source that it cannot draw, with the line if it knows it, and `E_TIMEOUT`.
 */
export type RenderDiagram = (request: DiagramRequest) => Promise<RenderedDiagram>;
