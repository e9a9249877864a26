import { Graphviz } from '@hpcc-js/wasm-graphviz';
import { parseMermaid, renderMermaidSVG } from 'beautiful-mermaid';
import type { DiagramLanguage } from '../core/diagrams/render-diagram.ts';
import { checkMermaid } from './check-mermaid.ts';
import { DiagramError } from './diagram-error.ts';
import { removeLinks } from './remove-links.ts';
import { resolveColors } from './resolve-colors.ts';
import { spaceArrows } from './space-arrows.ts';

/** Brackets in quotes are text. The renderer would take them for shapes, so it gets letters of no alphabet instead. */
const brackets = '()[]{}|';
const firstStandIn = 0xe0a0;

/** Draws a diagram as an SVG that refers to nothing outside itself. Throws a `DiagramError`. */
export async function drawSvg(language: DiagramLanguage, source: string): Promise<string> {
  return language === 'dot' ? removeLinks(await drawDot(source)) : removeLinks(resolveColors(drawMermaid(source)));
}

async function drawDot(source: string): Promise<string> {
  const graphviz = await Graphviz.load();
  try {
    return graphviz.dot(source, 'svg');
  } catch (thrown) {
    throw toDiagramError(thrown, 'Graphviz could not draw the graph');
  }
}

function drawMermaid(source: string): string {
  try {
    const readable = spaceArrows(hideQuotedBrackets(source));
    checkMermaid(readable, (flowchart) => parseMermaid(flowchart).edges.length);
    return showQuotedBrackets(renderMermaidSVG(readable));
  } catch (thrown) {
    throw toDiagramError(thrown, 'the diagram could not be drawn');
  }
}

/** Graphviz and Mermaid throw errors with their reason, or something without one. */
function toDiagramError(thrown: unknown, fallback: string): DiagramError {
  if (thrown instanceof DiagramError) return thrown;
  const message = thrown instanceof Error ? thrown.message.trim() : '';
  return new DiagramError(message === '' ? fallback : message);
}

function hideQuotedBrackets(source: string): string {
  return source.replaceAll(/"[^"\n]*"/g, (quoted) =>
    quoted.replaceAll(/[()[\]{}|]/g, (letter) => String.fromCharCode(firstStandIn + brackets.indexOf(letter))),
  );
}

function showQuotedBrackets(text: string): string {
  return text.replaceAll(/[\ue0a0-\ue0a6]/g, (letter) => brackets.charAt(letter.charCodeAt(0) - firstStandIn));
}
