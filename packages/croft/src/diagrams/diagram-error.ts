/** A source that cannot be drawn, in words for its author. */
export class DiagramError extends Error {
  constructor(message: string, line?: number) {
    super(line === undefined ? message : `line ${line}: ${message}`);
  }
}
