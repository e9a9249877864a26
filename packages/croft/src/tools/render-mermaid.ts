import { defineDiagramTool } from '../core/content/diagrams/define-diagram-tool.ts';

export const renderMermaid = defineDiagramTool('mermaid', {
  title: 'Render a Mermaid diagram',
  description:
    'Draw a Mermaid diagram into an SVG, PNG or PDF file, and answer it as an image. Kinds: flowchart, sequenceDiagram, ' +
    'classDiagram, erDiagram, stateDiagram, xychart.',
});
