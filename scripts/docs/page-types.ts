/** One page of the site, made of one Markdown file. */
export interface Page {
  /** The path of the Markdown file from the root of the repository. */
  readonly source: string;
  readonly name: string;
  readonly title: string;
  /** The first paragraph, as plain text. */
  readonly summary: string;
  readonly markdown: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly links: readonly string[];
  readonly codes: readonly Code[];
}

export interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
  /** The plain text below the heading, up to the next one. */
  readonly body: string;
}

/** A code block, or a piece of code in a line of text. */
export interface Code {
  readonly text: string;
  /** The info string after the opening fence; `undefined` for code in a line. */
  readonly info: string | undefined;
}

/** A picture that a page shows and that was drawn for it. */
export interface Drawing {
  readonly name: string;
  readonly svg: Uint8Array;
}
