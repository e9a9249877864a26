import { defineDiagramTool } from '../core/content/diagrams/define-diagram-tool.ts';

export const renderDot = defineDiagramTool('dot', {
  title: 'Render a Graphviz diagram',
  description:
    'Draw a graph in the DOT language of Graphviz into an SVG, PNG or PDF file, and answer it as an image. Pictures in ' +
    'nodes are left out.',
});
