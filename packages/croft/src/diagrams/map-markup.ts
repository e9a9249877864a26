/** Changes the tags and the stylesheets of an SVG, and leaves the texts of the diagram alone. */
export function mapMarkup(svg: string, change: (markup: string) => string): string {
  return svg.replaceAll(/<style>.*?<\/style>|<(?:"[^"]*"|'[^']*'|[^>"'])*>/gs, change);
}
