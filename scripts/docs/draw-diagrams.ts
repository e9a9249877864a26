import { createDiagramRenderer } from '../../packages/croft/src/diagrams/create-diagram-renderer.ts';
import { sha256 } from '../../packages/croft/src/lib/crypto/sha256.ts';
import type { Drawing } from './page-types.ts';

const timeoutMs = 60_000;
const render = createDiagramRenderer();

/** Draws a Mermaid source by the renderer of the tool `render_mermaid`. The name has a hash of the source. */
export async function drawDiagram(source: string): Promise<Drawing> {
  const asked = { language: 'mermaid', source, format: 'svg', timeoutMs } as const;
  const { bytes } = await render({ ...asked, signal: AbortSignal.timeout(timeoutMs) });
  return { name: `diagram-${sha256(Buffer.from(source)).slice(0, 12)}.svg`, svg: bytes };
}
